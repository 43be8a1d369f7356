"""Search engines to compare with: SQLite FTS5, and the official registry's substring match."""

from __future__ import annotations

import re
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence

from directory_server.domain.entries import Entry

Engine = Callable[[str], Sequence[str]]
"""Returns the names of at most DEPTH hits for a query, best first."""

DEPTH = 50

FUSION_RANK = 60
"""Constant added to each rank in reciprocal rank fusion (Cormack et al. 2009)."""


def baselines(entries: Sequence[Entry]) -> Mapping[str, Engine]:
    """Return the engines to compare with, by short name."""
    words = full_text(entries, "porter unicode61", any_word)
    trigrams = full_text(entries, "trigram", any_trigram)
    return {"substr": substring(entries), "bm25": words, "trigram": trigrams, "fusion": fusion(words, trigrams)}


def substring(entries: Sequence[Entry]) -> Engine:
    """Return an engine that finds the names that contain the query, ordered by name, as the official registry does."""
    names = sorted(entry.name for entry in entries)

    def search(q: str) -> Sequence[str]:
        return [name for name in names if q.casefold() in name.casefold()][:DEPTH]

    return search


def full_text(entries: Sequence[Entry], tokenizer: str, expression: Callable[[str], str]) -> Engine:
    """Return an engine on SQLite FTS5, ranked by its BM25. All text of an entry is one column.

    `expression` converts a query to FTS5's syntax. An empty expression finds nothing.
    """
    names = [entry.name for entry in entries]
    database = sqlite3.connect(":memory:")
    database.execute(f"CREATE VIRTUAL TABLE entry USING fts5(text, tokenize = '{tokenizer}', content = '')")
    rows = ((number, "\n".join(_texts(entry))) for number, entry in enumerate(entries))
    database.executemany("INSERT INTO entry (rowid, text) VALUES (?, ?)", rows)

    def search(q: str) -> Sequence[str]:
        if not (match := expression(q)):
            return []
        select = "SELECT rowid FROM entry WHERE entry MATCH ? ORDER BY rank LIMIT ?"
        return [names[number] for (number,) in database.execute(select, (match, DEPTH))]

    return search


def any_word(q: str) -> str:
    """Return FTS5's expression for any word of `q`; the last word is a prefix."""
    words = _any(re.findall(r"\w+", q))
    return words and f"{words}*"


def any_trigram(q: str) -> str:
    """Return FTS5's expression for any three consecutive characters of `q`."""
    return _any([q[start : start + 3] for start in range(len(q) - 2)])


def fusion(*engines: Engine) -> Engine:
    """Return an engine that ranks by the sum of 1 / (FUSION_RANK + rank) over `engines`."""

    def search(q: str) -> Sequence[str]:
        scores: dict[str, float] = defaultdict(float)
        for engine in engines:
            for rank, name in enumerate(engine(q), 1):
                scores[name] += 1 / (FUSION_RANK + rank)
        return sorted(scores, key=lambda name: -scores[name])[:DEPTH]

    return search


def _any(words: Sequence[str]) -> str:
    distinct = dict.fromkeys(word.casefold().replace('"', '""') for word in words)
    return " OR ".join(f'"{word}"' for word in distinct)


def _texts(entry: Entry) -> Iterator[str]:
    yield from (entry.name, entry.title, entry.brief, *entry.tags, *entry.categories)
    yield from (entry.long_description, *entry.descriptions.values())
    for tool in entry.tools:
        yield from (tool.name, tool.description)
    alternatives = entry.publisher.get("alternativeDescriptions")
    for text in (*(alternatives if isinstance(alternatives, list) else ()), entry.publisher.get("readme")):
        if isinstance(text, str):
            yield text
