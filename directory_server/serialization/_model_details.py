"""Details of entries for models: short, because a model pays for each character that it reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Sized
from typing import Any

import attrs

from ..client_config import Editor, Installation, installations
from ..domain.views import Detail
from ._entries import FIELDS, MAX_DETAIL, without_largest
from ._json import encode

_LEFT_OUT = frozenset(
    {"server", "packages", "remotes", "icons", "descriptions", "summary", "installable", "identity", "kind", "uses"}
)
"""Fields whose content other fields of the short form have, or which a model does not need. `fields` names them."""


def model_detail(detail: Detail, editor: Editor, fields: Sequence[str] = ()) -> bytes:
    """Return an encoded object with what a model needs of an entry, or with these `fields` as they are.

    Empty and unknown fields are absent. Tools are names. Each way of installation has one configuration, that of
    `editor`.
    """
    if len(encode(detail)) > MAX_DETAIL:
        detail = without_largest(detail)
    if fields:
        return encode({name: getattr(detail, name) for name in fields})
    values = {name: getattr(detail, name) for name in FIELDS if name not in _LEFT_OUT}
    values["tools"] = [tool.name for tool in detail.tools]
    if values["title"] == values["name"]:
        del values["title"]
    if detail.verification is not None:
        found = _given(detail.verification)
        values["verification"] = found | {"tools": [tool.name for tool in detail.verification.tools]}
    values["install"] = [_short(way) for way in _ways(detail, editor)]
    return encode({name: value for name, value in values.items() if _is_given(value)})


def _ways(detail: Detail, editor: Editor) -> Sequence[Installation]:
    """Return the installations of an entry with the configuration of one editor only."""
    if editor.is_in_apis:
        written = detail.install
    else:
        names = [tool.name for tool in detail.tools]
        written = installations(
            detail.server_name, detail.mcp_id, detail.packages, detail.remotes, names, editors=[editor]
        )
    # An installation that is not safe to show is in none of the forms.
    shown = {(way.kind, way.name) for way in detail.install}
    ways = (way for way in written if (way.kind, way.name) in shown)
    return [
        attrs.evolve(way, configurations=[made for made in way.configurations if made.editor == editor.name])
        for way in ways
    ]


def _short(way: Installation) -> Mapping[str, Any]:
    values = {"kind": way.kind, "name": way.name, "inputs": [_given(item) for item in way.inputs]}
    for configuration in way.configurations:
        values |= _given(configuration)
    values |= {"warnings": [notice.message for notice in way.warnings], "unavailable": way.note}
    return {name: value for name, value in values.items() if _is_given(value)}


def _given(record: Any) -> dict[str, Any]:
    """Return the fields of a record that are not empty and not false, by name."""
    fields = attrs.fields(type(record))
    return {field.name: value for field in fields if (value := getattr(record, field.name))}


def _is_given(value: Any) -> bool:
    return value is not None and (not isinstance(value, Sized) or len(value) > 0)
