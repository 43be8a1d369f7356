"""TOML out: configuration files of editors."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import orjson

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


def toml(table: Mapping[str, Any]) -> str:
    """Return tables of texts and lists of texts as TOML 1.0, with a header for each table that has values."""
    return "\n".join(_tables(table, ())).lstrip("\n") + "\n"


def _tables(table: Mapping[str, Any], path: Sequence[str]) -> Iterator[str]:
    values = {name: value for name, value in table.items() if not isinstance(value, Mapping)}
    if path and (values or not table):
        yield f"\n[{'.'.join(map(_key, path))}]"
    for name, value in values.items():
        yield f"{_key(name)} = {_string(value) if isinstance(value, str) else _list(value)}"
    for name, value in table.items():
        if isinstance(value, Mapping):
            yield from _tables(value, (*path, name))


def _list(texts: Sequence[str]) -> str:
    return f"[{', '.join(map(_string, texts))}]"


def _key(name: str) -> str:
    return name if _BARE_KEY.fullmatch(name) else _string(name)


def _string(text: str) -> str:
    # A string of JSON is a basic string of TOML, except that TOML forbids DEL.
    return orjson.dumps(text).decode().replace("\x7f", "\\u007F")
