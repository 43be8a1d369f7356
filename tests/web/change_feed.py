"""Helpers for tests of the change feed."""

from __future__ import annotations

import json
from typing import Any

from attrs import frozen

from directory_server import sqlite
from directory_server.domain.entries import OFFICIAL, Entry, mcp_id_of

from .conftest import MAIL, POSTGRES, Connection, Response, Server

CHANGES = "/api/open/v1/changes"
JSON = {"Accept": "application/json"}
STREAM = {"Accept": "text/event-stream"}
NAMES = ["x/0", "x/1", "x/2"]


@frozen
class Event:
    """A server-sent event, as a browser's EventSource reports it."""

    name: str
    id: str
    data: Any

    @property
    def seq(self) -> int:
        """The number of the change in the event's id."""
        return int(self.id.partition("-")[0])


def events(raw: bytes) -> list[Event]:
    """Return the events in the received bytes of a stream."""
    _, head, body = raw.rpartition(b"\r\n\r\n")
    found, last = [], ""
    for block in (body if head else raw).decode().split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.splitlines() if line.strip(": "))
        last = fields.get("id", last)
        if "data" in fields:
            found.append(Event(fields.get("event", "message"), last, json.loads(fields["data"])))
    return found


def received_changes(raw: bytes) -> list[tuple[str, str]]:
    """Return the kind and the server name of each change in the received bytes."""
    names = {mcp_id_of(name): name for name in (*NAMES, POSTGRES.name, MAIL.name)}
    return [(each.name.removeprefix("entry."), names[each.data["mcp_id"]]) for each in events(raw)]


def watch(server: Server, query: str = "", **options: Any) -> Connection:
    """Open a stream of changes."""
    headers = {**STREAM, **options.pop("headers", {})}
    return server.open("GET", CHANGES + query, headers=headers, **options)


def publish(server: Server, *entries: Entry) -> None:
    """Publish entries and deliver the changes to the streams."""
    server.publish(*entries)
    server.clock.advance(0)


def removed(entry: Entry) -> Entry:
    """Return `entry` with the status "deleted"."""
    return Entry(entry.server, {OFFICIAL: {"status": "deleted"}})


def page(server: Server, query: str = "", **options: Any) -> Response:
    """Request a page of changes."""
    return server.get(CHANGES + query, headers=JSON, **options)


def log_id(server: Server) -> str:
    """Return the id of the server's change log."""
    with server.database.connection() as connection:
        return str(connection.execute("SELECT id FROM log").fetchone()[0])


def prune(server: Server, upto: int) -> None:
    """Delete the changes up to `upto` from the log."""
    database = sqlite.Database(server.folder, "directory")
    with database.transaction() as connection:
        connection.execute("DELETE FROM change WHERE seq <= ?", (upto,))
    database.close()
