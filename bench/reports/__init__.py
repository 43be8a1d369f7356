"""Results as text tables and plots."""
