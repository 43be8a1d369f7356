"""Sentences of audited actions: who did what with which record. An action without one is shown as its route."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from attrs import frozen

from ... import serialization
from ...domain.audit import AuditEvent
from ...texts.sanitize import clean_line

_NAMES = ("entry", "email", "label", "name", "title", "subject", "url", "key_id", "record_id")
"""Recorded values that name what an action is about, the best first."""

_PARAMETER = re.compile(r"(\w+)=(.*?)(?= \w+=|$)")

_CREATING = "create"
"""The verb of a form that is sent to a list."""

_RUNNING = "run"
"""The verb of a command."""

_OF_PAGES = ("account", "admin")
"""Beginnings of the paths of pages. Other paths are of the API of publishers, whose requests are about entries."""

MAX_CHANGES, MAX_VALUE = 3, 40
"""Changed values of a sentence, and characters of one."""


@frozen
class Sentence:
    """A verb and a noun, whose texts are `did_VERB` and `of_NOUN`, and the names of the record and of its list.

    A form of no list, such as one for a password, has the text `own_NOUN`. `changes` are the names of values with those
    before and after.
    """

    verb: str
    noun: str
    name: str
    place: str
    changes: Sequence[tuple[str, str, str]] = ()


def sentence(event: AuditEvent) -> Sentence | None:
    """Return the sentence of an event of a command or a form, or of a publisher; None for others."""
    before, after = _values(event.before), _values(event.after)
    values = {**before, **after}
    parameters = dict(_PARAMETER.findall(event.target))
    names = [str(values[name]) for name in _NAMES if values.get(name)]
    ids = [value for name, value in parameters.items() if name.endswith(("_id", "name"))]
    name, place = next(iter([*names, *ids]), ""), values.get("list") or ""
    changes = [
        (key, _short(before[key]), _short(value))
        for key, value in after.items()
        if key in before and before[key] != value and isinstance(value, str | int | float)
    ][:MAX_CHANGES]
    if event.actor.kind == "command":
        return Sentence(_RUNNING, event.action, name, "")
    method, _, path = event.action.partition(" ")
    area, *segments = path.strip("/").split("/")
    words = [segment for segment in segments if segment[:1] not in ("", "*", "{")]
    if method == "GET" or not words:
        return None
    if area not in _OF_PAGES:
        return Sentence(words[-1], "entry", name, "", changes)
    verb = parameters.get("action", "") if segments[-1] == "{action}" else words[-1]
    verb = _CREATING if verb == words[0] else verb
    return Sentence(verb, words[0], name, place if isinstance(place, str) else "", changes)


def _values(text: str) -> Mapping[str, Any]:
    """Return the values of a JSON object; none of a text that was cut."""
    try:
        values = serialization.decode_stored(text.encode()) if text else {}
    except ValueError:
        return {}
    return values if isinstance(values, dict) else {}


def _short(value: object) -> str:
    return clean_line(("no", "yes")[value] if isinstance(value, bool) else str(value), MAX_VALUE)
