"""TOML and YAML out: configuration files of editors."""

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


_PLAIN_KEY = re.compile(r"[A-Za-z_$][A-Za-z0-9_-]*")

_WORDS = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})
"""Words that versions of YAML read as other values than texts."""


def yaml(values: Mapping[str, Any]) -> str:
    """Return mappings of texts, numbers, truth values and lists of texts as YAML 1.2, with each text in quotes."""
    return "\n".join(_lines(values, "")) + "\n"


def _lines(values: Mapping[str, Any], indent: str) -> Iterator[str]:
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield f"{indent}{_yaml_key(name)}:"
            yield from _lines(value, f"{indent}  ")
        elif isinstance(value, list):
            yield f"{indent}{_yaml_key(name)}: [{', '.join(map(_scalar, value))}]"
        else:
            yield f"{indent}{_yaml_key(name)}: {_scalar(value)}"


def _yaml_key(name: str) -> str:
    return name if _PLAIN_KEY.fullmatch(name) and name.lower() not in _WORDS else _scalar(name)


def _scalar(value: str | int | bool) -> str:
    # A string of JSON is a double-quoted text of YAML, but YAML allows no DEL and breaks lines at others.
    text = orjson.dumps(value).decode()
    return re.sub("[\x7f-\x9f\u2028\u2029\ufeff]", lambda found: f"\\u{ord(found[0]):04x}", text)
