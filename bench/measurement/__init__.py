"""Measurements: process statistics and relevance metrics."""
