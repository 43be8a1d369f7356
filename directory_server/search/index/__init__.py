"""Index structures: documents, vocabulary, segments."""
