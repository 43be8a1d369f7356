"""Operator pages: the overview of the server, accounts, keys and upstreams."""

from ...feature import Feature

FEATURE = Feature("operators", __name__, web="web:PART")
