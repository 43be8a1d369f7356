"""Feeds and files by which feed readers, browsers and search engines find entries."""

from ...feature import Feature

FEATURE = Feature("feeds", __name__, web="web:PART")
