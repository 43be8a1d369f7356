"""Ranking: scores, pseudo-relevance feedback, top k, explanations."""
