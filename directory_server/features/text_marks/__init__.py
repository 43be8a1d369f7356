"""Marks of texts that command a model: operators accept them."""

from ...feature import Feature

FEATURE = Feature("text_marks", __name__, web="web:PART", command="command:marks", run="accepted:running")
