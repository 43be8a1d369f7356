"""Tests of the dump."""
