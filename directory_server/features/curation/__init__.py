"""Curation: operator pages for entries, and the bar on the page of an entry."""

from ...feature import Feature

FEATURE = Feature("curation", __name__, web="web:PART")
