"""Values and rules of the directory: no I/O, no HTTP, no SQL."""
