"""Documents of entries that were approved: their digests, and how two of them differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from attrs import frozen

from ...domain.entries import Entry
from ...serialization import document_digest, encode_entry, restore_entry
from ...texts.sanitize import clean_line
from .requests import Approval

MAX_VALUES = 2_000
"""Values of a document that are compared."""

MAX_DEPTH = 20
"""Levels of a document that are compared one by one. Deeper values are compared as one text."""

MAX_DIFFERENCES = 100
"""Differences on a page."""

MAX_SHOWN = 300
"""Characters of a value on a page."""


@frozen
class Difference:
    """A value of a document that another document has not, or has otherwise; empty texts where there is none."""

    path: str
    before: str
    after: str


def approval_of(entry: Entry, now: float) -> Approval:
    """Return the approval of an entry as it is at `now`: what its publisher wrote, without dates of registries."""
    document = Entry(entry.server)
    return Approval(entry.version, document_digest(document), encode_entry(document), now)


def differences(before: bytes, after: Entry) -> list[Difference]:
    """Return how the document of an entry differs from an encoded one, at most MAX_DIFFERENCES + 1 values by path."""
    old, new = (dict(_values(server)) for server in (restore_entry(before).server, after.server))
    changed = [path for path in {**old, **new} if old.get(path) != new.get(path)]
    return [
        Difference(clean_line(path, MAX_SHOWN), _shown(old, path), _shown(new, path))
        for path in sorted(changed)[: MAX_DIFFERENCES + 1]
    ]


def _shown(values: Mapping[str, str], path: str) -> str:
    return clean_line(values.get(path, ""), MAX_SHOWN)


def _values(server: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the path and text of the first MAX_VALUES values of a document."""
    waiting: list[tuple[str, Any, int]] = [("", server, 0)]
    for _ in range(MAX_VALUES):
        if not waiting:
            return
        path, value, depth = waiting.pop()
        if isinstance(value, Mapping) and value and depth < MAX_DEPTH:
            waiting += [(f"{path}.{name}" if path else str(name), inner, depth + 1) for name, inner in value.items()]
        elif isinstance(value, list) and value and depth < MAX_DEPTH:
            waiting += [(f"{path}[{number}]", inner, depth + 1) for number, inner in enumerate(value)]
        else:
            yield path, value if isinstance(value, str) else repr(value)
    if waiting:
        # What is left counts as one value, so that no difference is lost.
        yield "…", repr(waiting)
