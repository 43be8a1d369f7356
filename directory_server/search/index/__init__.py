"""Index structures: documents, vocabulary, segments, BM25 impacts."""
