"""Entries and their views without the texts that have marks.

All that writes an entry for people, models or other programs than registries takes it from here.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import chain
from typing import Any

from attrs import evolve

from .details import detail_of
from .entries import Entry
from .marks import (
    MAX_DEPTH,
    MAX_MARKS,
    NOT_TEXTS,
    WITHHELD,
    Mark,
    bounded_marks,
    is_sentence,
    is_withheld,
    kinds_of,
    marks_of,
    text_id,
    text_of,
    texts_in,
    tool_texts,
)
from .views import Detail, Hit

_EMPTIED = frozenset({"title", "displayName"})
"""Members that stand for a name if they are empty."""


def entry_marks(entry: Entry) -> Sequence[Mark]:
    """Return the marks of the texts of an entry: declared tools, server.json, and its metadata.

    After MAX_MARKS there is one mark of each text that is withheld.
    """
    declared = entry.publisher.get("tools")
    tools = declared if isinstance(declared, list) and all(isinstance(tool, dict) for tool in declared) else []
    names = frozenset(name for tool in tools if isinstance(name := tool.get("name"), str))
    of_tools = chain.from_iterable(marks_of(tool_texts(tool), names) for tool in tools)
    others = chain.from_iterable(
        marks_of(texts_in(value, skipped=tools or None)) for value in (entry.server, entry.meta)
    )
    return bounded_marks(chain(of_tools, others), MAX_MARKS, text_of)


def without_texts(entry: Entry, marks: Iterable[Mark]) -> Entry:
    """Return `entry` with WITHHELD in place of the texts that have one of `marks`, but for invisible characters."""
    texts = {text_of(mark) for mark in marks if is_withheld(mark.kind)}
    if not texts:
        return entry
    return evolve(entry, server=_withhold(entry.server, texts), meta=_withhold(entry.meta, texts))


def shown_entry(entry: Entry, accepted: Collection[str] = ()) -> tuple[Entry, Sequence[Mark]]:
    """Return `entry` without texts that have marks, and its marks. An operator has `accepted` the ids of others."""
    marks = [mark for mark in entry_marks(entry) if mark.id not in accepted]
    return without_texts(entry, marks), marks


def shown_hit(entry: Entry, accepted: Collection[str] = ()) -> Hit:
    """Return the view of `entry` in lists, without texts that have marks, and with the kinds of these marks.

    It reads the texts of this view only.
    """
    texts = {
        "title": entry.title,
        "description": entry.brief,
        "longDescription": entry.long_description,
        "statusMessage": entry.status_message,
    }
    marks = [mark for mark in marks_of(texts_in(texts)) if mark.id not in accepted]
    return evolve(without_texts(entry, marks).hit(), flags=kinds_of(mark.kind for mark in marks))


def marked_detail(entry: Entry, accepted: Collection[str] = ()) -> Detail:
    """Return the full view of `entry`, without texts that have marks, unless an operator has `accepted` their ids.

    It reads all texts of the entry, which takes a second for the largest ones.
    """
    shown, marks = shown_entry(entry, accepted)
    return with_marks(detail_of(shown), marks)


def with_marks(detail: Detail, marks: Sequence[Mark]) -> Detail:
    """Return `detail` with further marks: all kinds, and views of the first ones."""
    if not marks:
        return detail
    # The first call adds the marks of the entry, and leaves space for those of tools.
    limit = 2 * MAX_MARKS - len(detail.marks) if detail.marks else MAX_MARKS
    views = (*detail.marks, *(mark.view() for mark in marks[:limit]))
    return evolve(detail, flags=kinds_of([*detail.flags, *(mark.kind for mark in marks)]), marks=views)


def _withhold(value: Any, texts: Collection[str], member: str = "", depth: int = MAX_DEPTH) -> Any:
    if isinstance(value, str):
        if member in NOT_TEXTS or text_id(value) not in texts:
            return value
        return "" if member in _EMPTIED else WITHHELD
    if isinstance(value, dict):
        named = {WITHHELD if is_sentence(name) and text_id(name) in texts else name: name for name in value}
        return {shown: _withhold(value[name], texts, name, depth - 1) for shown, name in named.items()} if depth else {}
    if isinstance(value, list):
        return [_withhold(item, texts, member, depth - 1) for item in value] if depth else []
    return value
