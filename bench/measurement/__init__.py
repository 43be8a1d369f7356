"""Measurements: process statistics, relevance metrics, and search engines to compare with."""
