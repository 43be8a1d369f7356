"""Fuzzing of the compiled modules with sanitizers."""
