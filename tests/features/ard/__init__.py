"""Tests of ARD."""
