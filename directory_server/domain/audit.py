"""Audit events: who did what to which object, when, from where, and with which outcome (NIST SP 800-53, AU-3)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

from attrs import frozen

from ..texts.sanitize import clean_line
from .errors import without_keys

MAX_TEXT = 200
"""Characters of a short text of an event."""

MAX_VALUES = 2_000
"""Characters of the values before and after a change, each."""

MAX_FIELDS = 20
"""Values before and after a change, each."""

_SECRET = re.compile(r"csrf|pass|old|secret|token|code|assertion|credential|verifier|nonce|(?:^|_)key$", re.IGNORECASE)

DONE = "done"
"""The outcome of an action without an error. Other outcomes are error codes."""

UNKNOWN = "unknown"
"""The outcome of an action whose process ended before it."""

ActorKind = Literal["account", "key", "publisher", "command", "anonymous"]


@frozen
class Actor:
    """The subject of an event: its kind, id and name, the id of its API key, and the network of its address.

    The name is the e-mail address of an account, the label of a token, or the user of a command.
    """

    kind: ActorKind
    id: str = ""
    name: str = ""
    key_id: str = ""
    network: str = ""


@frozen
class AuditEvent:
    """An action. `at` is in seconds since the epoch; `before` and `after` are JSON objects or empty."""

    at: float
    actor: Actor
    action: str
    target: str = ""
    before: str = ""
    after: str = ""
    request_id: str = ""
    outcome: str = ""


def is_secret_name(name: str) -> bool:
    """Return whether the values of fields and parameters with this name are never recorded."""
    return _SECRET.search(name) is not None and not name.lower().endswith("_id")


def recorded_text(text: object, longest: int = MAX_TEXT) -> str:
    """Return a text for an event: one line of at most `longest` characters, with keys masked."""
    return without_keys(clean_line(str(text), longest))


def recorded(values: Mapping[str, object]) -> Mapping[str, object]:
    """Return the first MAX_FIELDS values without secrets, whose JSON has at most MAX_VALUES characters."""
    kept: dict[str, object] = {}
    left = MAX_VALUES - 50
    for name, value in list(values.items())[:MAX_FIELDS]:
        if is_secret_name(name) or value is None:
            continue
        shown = value if isinstance(value, bool | int) else recorded_text(value)
        # In JSON a cleaned text has at most twice its length.
        left -= 2 * (len(str(shown)) + len(name)) + 8
        if left < 0:
            break
        kept[recorded_text(name, 50)] = shown
    return kept
