"""Input of the benchmarks: entries from files, synthetic entries and queries."""
