"""The audit log for operators: its page, and the download."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from attrs import frozen

from ... import serialization
from ...domain.audit import AuditEvent
from ...feature.parts import WebPart
from ...feature.server import Server
from ...http import Request
from ...texts.sanitize import clean_line
from ...web.account import Sent, page
from ...web.forms import parameters
from ...web.operator_requests import ADMIN, PER_PAGE, OperatorRequests, next_url, page_of, row_number
from ...web.responses import json_response
from ...web.routes import APPS, App
from .settings import AuditConfig
from .tables import AuditLog

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


PAGE = f"{ADMIN}/audit"

EXPORTED = 10_000
"""Records of one download. The command exports all."""

DAY = 86_400.0


@frozen
class AuditPages:
    """Handles the page of the audit log, and its download as JSON Lines. `_is_on` is whether actions are recorded."""

    app = App()

    _requests: OperatorRequests
    _log: AuditLog
    _is_on: bool

    @app.get(PAGE)
    @page("list")
    async def get(self, sent: Sent) -> Mapping[str, Any]:
        """Return a page of the records with the text `q`, the `outcome` and the `day`, the newest first."""
        text, outcome, day = map(sent.text, ("q", "outcome", "day"))
        since = _day(day)
        limits = {} if since is None else {"since": since, "until": since + DAY}
        newest = await self._log.newest(
            PER_PAGE + 1, before=row_number(sent.fields.get("after", "")), text=text, outcome=outcome, **limits
        )
        rows = page_of(newest)
        after = str(rows[-1].number) if rows else ""
        return {
            "rows": [(record, sentence(record.event)) for record in rows],
            "text": text,
            "outcome": outcome,
            "day": day,
            "is_on": self._is_on,
            "next_url": next_url(PAGE, newest, after, q=text, outcome=outcome, day=day),
        }

    @app.get(f"{PAGE}/export")
    async def export(self, request: Request) -> bytes:
        """Return records as JSON Lines, the oldest first, after the number `after`."""
        await self._requests.member(request)
        after = row_number(parameters(request).get("after", "")) or 0
        records = await self._log.read(after, EXPORTED)
        body = b"".join(serialization.encode(record.values()) + b"\n" for record in records)
        response = json_response(request, body, 200, **{"Content-Disposition": 'attachment; filename="audit.jsonl"'})
        request.setHeader("Content-Type", "application/jsonl")
        return response


def _day(text: str) -> float | None:
    """Return the beginning of a day (2027-01-31) in seconds since the epoch, UTC; None for another text."""
    try:
        return datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC).timestamp()
    except ValueError:
        return None


NAME = "audit"


def _serve(server: Server) -> None:
    is_on = server.config.of(AuditConfig).enabled
    server.add(APPS, AuditPages(server.operators.of_folder(NAME), AuditLog(server.storage.tables), is_on).app)


PART = WebPart(
    serve=_serve,
    tabs=(("server", PAGE, f"{NAME}.tab"),),
)
