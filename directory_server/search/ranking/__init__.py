"""Ranking: scores, feedback, the best hits."""
