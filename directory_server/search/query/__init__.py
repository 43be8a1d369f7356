"""Query processing: parsing, spelling correction, query expansion, and the plan."""
