"""YAML out: configuration files of editors."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import orjson

_PLAIN_KEY = re.compile(r"[A-Za-z_$][A-Za-z0-9_-]*")

_WORDS = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})
"""Words that versions of YAML read as other values than texts."""


def yaml(values: Mapping[str, Any]) -> str:
    """Return mappings of texts, numbers, truth values and lists of texts as YAML 1.2, with each text in quotes."""
    return "\n".join(_lines(values, "")) + "\n"


def _lines(values: Mapping[str, Any], indent: str) -> Iterator[str]:
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield f"{indent}{_key(name)}:"
            yield from _lines(value, f"{indent}  ")
        elif isinstance(value, list):
            yield f"{indent}{_key(name)}: [{', '.join(map(_scalar, value))}]"
        else:
            yield f"{indent}{_key(name)}: {_scalar(value)}"


def _key(name: str) -> str:
    return name if _PLAIN_KEY.fullmatch(name) and name.lower() not in _WORDS else _scalar(name)


def _scalar(value: str | int | bool) -> str:
    # A string of JSON is a double-quoted text of YAML, but YAML allows no DEL and breaks lines at others.
    text = orjson.dumps(value).decode()
    return re.sub("[\x7f-\x9f\u2028\u2029\ufeff]", lambda found: f"\\u{ord(found[0]):04x}", text)
