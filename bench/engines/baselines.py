"""Search engines to compare with: SQLite FTS5, and the official registry's substring match."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence

from directory_server.domain.entries import Entry

Engine = Callable[[str], Sequence[str]]
"""Returns the names of at most DEPTH hits for a query, best first."""

DEPTH = 50


def baselines(entries: Sequence[Entry]) -> Mapping[str, Engine]:
    """Return the engines to compare with, by short name."""
    return {"substr": substring(entries), "bm25": full_text(entries)}


def substring(entries: Sequence[Entry]) -> Engine:
    """Return an engine that finds the names that contain the query, ordered by name, as the official registry does."""
    names = sorted(entry.name for entry in entries)

    def search(q: str) -> Sequence[str]:
        return [name for name in names if q.casefold() in name.casefold()][:DEPTH]

    return search


def full_text(entries: Sequence[Entry]) -> Engine:
    """Return an engine on SQLite FTS5, ranked by its BM25. All text of an entry is one column."""
    names = [entry.name for entry in entries]
    database = sqlite3.connect(":memory:")
    database.execute("CREATE VIRTUAL TABLE entry USING fts5(text, tokenize = 'porter unicode61', content = '')")
    rows = ((number, "\n".join(_texts(entry))) for number, entry in enumerate(entries))
    database.executemany("INSERT INTO entry (rowid, text) VALUES (?, ?)", rows)

    def search(q: str) -> Sequence[str]:
        if not (match := any_word(q)):
            return []
        select = "SELECT rowid FROM entry WHERE entry MATCH ? ORDER BY rank LIMIT ?"
        return [names[number] for (number,) in database.execute(select, (match, DEPTH))]

    return search


def any_word(q: str) -> str:
    """Return FTS5's expression for any word of `q`; the last word is a prefix."""
    distinct = dict.fromkeys(word.casefold() for word in re.findall(r"\w+", q))
    return " OR ".join(f'"{word}"' for word in distinct) + ("*" if distinct else "")


def _texts(entry: Entry) -> Iterator[str]:
    yield from (entry.name, entry.title, entry.brief, *entry.tags, *entry.categories)
    yield from (entry.long_description, *entry.descriptions.values())
    for tool in entry.tools:
        yield from (tool.name, tool.description)
    alternatives = entry.publisher.get("alternativeDescriptions")
    for text in (*(alternatives if isinstance(alternatives, list) else ()), entry.publisher.get("readme")):
        if isinstance(text, str):
            yield text
