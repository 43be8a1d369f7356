"""Use cases of the directory, on ports only."""
