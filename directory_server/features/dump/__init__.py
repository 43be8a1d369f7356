"""Dump: a file of all entries in all versions, from which another directory starts."""

from ...feature import Feature
from .settings import DumpConfig

FEATURE = Feature("dump", __name__, settings=DumpConfig, web="web:PART")
