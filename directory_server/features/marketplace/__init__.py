"""Marketplace: entries as plugins of Claude Code, which `/plugin marketplace add URL` adds."""

from ...feature import Feature

FEATURE = Feature("marketplace", __name__, web="web:PART")
