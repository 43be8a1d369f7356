"""The tables of words that searches use: they are loaded by the first search."""

from __future__ import annotations

from ..text.thesaurus import thesaurus
from ..text.translation_tables import translations
from ..text.word_vectors import word_vectors
from .conditions import conditions

_TABLES = thesaurus, translations, conditions, word_vectors


def load_tables() -> None:
    """Load all tables. It takes about 0.4 seconds of processor time, and must not run in the reactor's thread."""
    for table in _TABLES:
        table()


def are_loaded() -> bool:
    """Return whether `load_tables` returns at once."""
    return all(table.is_computed for table in _TABLES)
