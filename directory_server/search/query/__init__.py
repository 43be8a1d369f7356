"""Query processing: from typed words to groups of terms."""
