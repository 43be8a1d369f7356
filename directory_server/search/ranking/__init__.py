"""Ranking: candidates, their scores, likeness of meaning, strength, pages in other orders, and tools."""
