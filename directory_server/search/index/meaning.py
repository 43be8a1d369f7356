"""What an entry says about itself: its long texts, and the vector of its name, title and longest description."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...domain.entries import Entry
from ..text.analysis import MAX_KEY, words
from ..text.word_vectors import WordVectors, text_vector, word_vectors

MAX_LONG_TEXT = 20_000
"""Characters of one long text that are searched. A few read-me files are longer."""

MEANING, MEANT = 300, 1.3
"""Characters of the description that the vector depends on; the number of a word that the name has as well."""


def meaning_vector(entry: Entry) -> bytes:
    """Return the stored vector of what an entry means."""
    return text_vector(meaning(entry, word_vectors()))


def meaning(entry: Entry, table: WordVectors) -> Mapping[str, float]:
    """Return the terms of the name, the title and the longest description, as `table` splits them, and their numbers.

    A term of both the name and the description counts more.
    """
    name, description = entry.name.rpartition("/")[2][:MAX_KEY], _longest_description(entry)[:MEANING]
    named, described = (
        table.terms_of(words(text, humps=True)) for text in (f"{entry.title[:MAX_KEY]}\n{name}", description)
    )
    return {**dict.fromkeys(named, 1.0), **{term: MEANT if term in named else 1.0 for term in described}}


def _longest_description(entry: Entry) -> str:
    return max((entry.brief, entry.long_description, *entry.descriptions.values()), key=len)


def long_texts(entry: Entry) -> Sequence[str]:
    """Return the long descriptions of an entry, from the members of its publisher metadata that usually hold them."""
    alternatives = entry.publisher.get("alternativeDescriptions")
    others = alternatives if isinstance(alternatives, list) else []
    texts = (entry.long_description, *others, entry.publisher.get("readme"))
    return [text[:MAX_LONG_TEXT] for text in texts if isinstance(text, str)]
