"""Stored forms of what the index holds of checks."""

from __future__ import annotations

from typing import Any, TypeVar

import orjson
from attrs import asdict, astuple, evolve
from cattrs import Converter
from cattrs.strategies import configure_union_passthrough

from ..domain.checks import IndexedVerification, PackageTexts
from ..domain.tools import OfferedTool
from ._json import encode

T = TypeVar("T")

_CONVERTER = Converter()
configure_union_passthrough(str | int | float | bool | None, _CONVERTER)


def restore_record(value: Any, cls: type[T]) -> T:
    """Return the instance of `cls`, an attrs class, from the value of its stored form."""
    return _CONVERTER.structure(value, cls)


def encode_indexed(verification: IndexedVerification) -> bytes:
    """Return the stored form of what the index holds of the checks of an entry."""
    value = asdict(verification)
    value["tools"] = [*map(astuple, verification.tools)]
    # As before there were these fields: another form would be a change of every entry.
    for name in ("names_server", "texts", "hinted", "marks"):
        if not value[name]:
            del value[name]
    return encode(value)


def restore_indexed(body: bytes) -> IndexedVerification:
    """Return what the index holds of a verification from `body`."""
    value = orjson.loads(body)
    # Tools that were stored before they had titles are pairs of name and description.
    tools = ((name, "", *rest) if len(rest) == 1 else (name, *rest) for name, *rest in value["tools"])
    found = _CONVERTER.structure({**value, "tools": ()}, IndexedVerification)
    return evolve(found, tools=tuple(OfferedTool(*tool) for tool in tools))


def encode_texts(texts: PackageTexts) -> bytes:
    """Return the stored form of the texts of a package, at most 13,000 bytes."""
    return encode([texts.summary, texts.keywords, texts.readme])


def restore_texts(body: bytes) -> PackageTexts:
    """Return the texts of a package from `body`, the output of `encode_texts`."""
    summary, keywords, readme = orjson.loads(body)
    return PackageTexts(summary, tuple(keywords), readme)


def indexed_status(body: bytes) -> str:
    """Return the status in what the index holds of a verification."""
    return str(orjson.loads(body)["status"])
