"""What an entry says about itself, and claims: what its publisher says that people would ask for (ARD v0.9, 4.2).

Nobody checks claims. A search reads them only if no entry answers it closely by what it says, and then they nominate
entries (see `ranking.nomination`). A claim counts only if it is about what the entry is about.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from itertools import islice

import numpy as np

from ...domain.entries import Entry
from ..tables.word_vectors import WordVectors, query_vector, text_vector, word_vectors
from ..text import MAX_KEY, runs, stem, tokens

QUERIES, CAPABILITIES = "representativeQueries", "capabilities"
"""The members of the publisher metadata with claims."""

MAX_QUERIES, MAX_QUERY = 5, 200
"""Representative queries that are read, and characters of each. ARD asks for 2 to 5."""

MAX_CAPABILITIES, MAX_CAPABILITY = 32, 100
"""Capabilities that are read, and characters of each."""

CLAIM = "\0claim:"
"""The prefix of the special terms of claims: the stems of their words."""

MAX_CLAIMED = 100
"""Words of claims of an entry that are searched."""

LEAST_LIKENESS = 0.2
"""The least cosine of the vectors of a claim and of the entry.

Of judged queries, 89 % reach it with an entry of grade 3, and 5 % with another entry.
"""


def claim_terms(entry: Entry, vector: bytes, said: Container[str]) -> list[str]:
    """Return the special terms of the claims of `entry` that count, without the terms `said`.

    `vector` is what the entry means.
    """
    claims = list(_claims(entry))
    if not claims:
        return []
    found = (word for claim in claims if _is_like(claim, vector) for word in tokens(claim, humps=True))
    new = dict.fromkeys(term for word in found if (term := stem(word)) not in said)
    return [CLAIM + term for term in islice(new, MAX_CLAIMED)]


def _claims(entry: Entry) -> Iterator[str]:
    for member, most, characters in (
        (QUERIES, MAX_QUERIES, MAX_QUERY),
        (CAPABILITIES, MAX_CAPABILITIES, MAX_CAPABILITY),
    ):
        texts = entry.publisher.get(member)
        for text in islice(texts, most) if isinstance(texts, list) else ():
            if isinstance(text, str) and text:
                yield text[:characters]


def _is_like(claim: str, vector: bytes) -> bool:
    found = query_vector(runs(claim, humps=True), {}, least_known=0.0)
    if found is None:
        return False
    query, entry = (np.frombuffer(stored, np.int8).astype(np.float32) for stored in (found, vector))
    lengths = float(np.linalg.norm(query) * np.linalg.norm(entry))
    return float(query @ entry) >= LEAST_LIKENESS * lengths > 0


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
        table.terms_of(runs(text, humps=True)) for text in (f"{entry.title[:MAX_KEY]}\n{name}", description)
    )
    return {**dict.fromkeys(named, 1.0), **{term: MEANT if term in named else 1.0 for term in described}}


def _longest_description(entry: Entry) -> str:
    return max((entry.brief, entry.long_description, *entry.descriptions.values()), key=len)


def long_texts(entry: Entry) -> Sequence[str]:
    """Return the long descriptions of an entry, from the members of its publisher metadata that usually hold them."""
    texts = (entry.long_description, *entry.alternative_descriptions, entry.readme)
    return [text[:MAX_LONG_TEXT] for text in texts if text]
