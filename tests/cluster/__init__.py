"""Several server processes on one PostgreSQL database."""
