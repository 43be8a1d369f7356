"""The relevance sets: graded queries, and the floors of our index on them."""
