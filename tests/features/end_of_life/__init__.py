"""Tests of ends of life and moves."""
