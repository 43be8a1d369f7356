"""Results of other registries, which are hostile: members of known types, within bounds, and without marked texts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...text_marks import scan
from ...texts.sanitize import clean_line
from ...web.pages import link
from .names import IDENTIFIER

MAX_TEXT, MAX_ITEMS, MAX_ITEM = 1_000, 32, 100
"""Characters of a text, items of a list, and characters of one."""

_TEXTS = ("displayName", "type", "description", "version", "updatedAt")
_LISTS = ("tags", "capabilities")


def foreign_entry(value: Any, source: str) -> Mapping[str, Any]:
    """Return a result of the registry at `source`, with the terms that clients need to select one; empty if invalid.

    The registry that it names itself does not count. A result whose texts command a model is not valid either.
    """
    identifier = value.get("identifier") if isinstance(value, dict) else None
    if not isinstance(identifier, str) or not IDENTIFIER.fullmatch(identifier):
        return {}
    score, url = value.get("score"), value.get("url")
    texts = {name: text for name in _TEXTS if (text := _line(value.get(name), MAX_TEXT))}
    lists = {name: items for name in _LISTS if (items := _items(value.get(name)))}
    metadata = value.get("metadata")
    facts = _facts(metadata) if isinstance(metadata, dict) else {}
    every = [*texts.values(), *(item for items in lists.values() for item in items), *map(str, facts.values())]
    if not (texts.keys() >= {"displayName", "type"}) or scan("\n".join(every)):
        return {}
    is_number = isinstance(score, int | float) and not isinstance(score, bool) and 0 <= score <= 100
    return {
        "identifier": identifier,
        **texts,
        **({"url": shown} if (shown := link(url)) else {}),
        **lists,
        **({"metadata": facts} if facts else {}),
        "score": round(score) if is_number else 0,
        "source": source,
    }


def _line(value: Any, length: int) -> str:
    return clean_line(value[: 4 * length], length) if isinstance(value, str) else ""


def _items(value: Any) -> list[str]:
    items = value[:MAX_ITEMS] if isinstance(value, list) else []
    return [line for item in items if (line := _line(item, MAX_ITEM))]


def _facts(metadata: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the members of metadata that the schema of catalogs allows: short texts, numbers and booleans."""
    facts: dict[str, Any] = {}
    for name, value in [*metadata.items()][:MAX_ITEMS]:
        key = _line(name, MAX_ITEM)
        if isinstance(value, bool | int):
            facts[key] = value
        elif text := _line(value, MAX_TEXT):
            facts[key] = text
    return facts
