"""Dump: a file of all entries in all versions, from which another directory starts."""

from ...feature import Feature

FEATURE = Feature("dump", __name__, settings="settings:DumpConfig", web="web:PART")
