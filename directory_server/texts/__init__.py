"""Texts of others and of our own: cleaning, host names, wording."""
