"""Benchmarks: each prints a table and names what it compares. They are not tests."""
