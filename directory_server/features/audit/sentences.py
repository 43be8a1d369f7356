"""Sentences of audited actions: who did what with which record. An action without one is shown as its route."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from attrs import frozen

from ... import serialization
from ...domain.audit import AuditEvent

_NAMES = ("entry", "email", "label", "name", "title", "subject", "url")
"""Recorded values that name what an action is about, the best first."""

_PARAMETER = re.compile(r"(\w+)=(.*?)(?= \w+=|$)")

_CREATING = "create"
"""The verb of a form that is sent to a list."""


@frozen
class Sentence:
    """A verb and a noun, whose texts are `did_VERB` and `of_NOUN`, and the names of the record and of its list."""

    verb: str
    noun: str
    name: str
    place: str


def sentence(event: AuditEvent) -> Sentence | None:
    """Return the sentence of an event of a page; None for commands, and for other paths."""
    method, _, path = event.action.partition(" ")
    area, *segments = path.strip("/").split("/") if path.startswith("/") else [""]
    if area not in ("account", "admin") or method != "POST" or not segments:
        return None
    parameters = dict(_PARAMETER.findall(event.target))
    verb = parameters.get("action", "") if segments[-1] == "{action}" else segments[-1]
    if len(segments) == 1:
        verb = _CREATING
    values = {**_values(event.before), **_values(event.after)}
    names = [str(values[name]) for name in _NAMES if values.get(name)]
    ids = [value for name, value in parameters.items() if name.endswith(("_id", "name"))]
    place = values.get("list") or ""
    return Sentence(verb, segments[0], next(iter([*names, *ids]), ""), place if isinstance(place, str) else "")


def _values(text: str) -> Mapping[str, Any]:
    """Return the values of a JSON object; none of a text that was cut."""
    try:
        values = serialization.decode_stored(text.encode()) if text else {}
    except ValueError:
        return {}
    return values if isinstance(values, dict) else {}
