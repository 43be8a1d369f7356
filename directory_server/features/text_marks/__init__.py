"""Marks of texts that command a model: operators accept them."""

from ...feature import Feature

FEATURE = Feature(
    "text_marks",
    __name__,
    web="web:PART",
    section="Entries",
    commands={"marks": "List marks of texts that command a model, and accept them."},
    command="command:marks",
)
