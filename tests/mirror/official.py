"""An upstream with the rules of the official registry, version 1.7.0: its database, lists and status changes."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from urllib.parse import unquote

from attrs import define, field
from twisted.internet.task import Clock
from twisted.web.http import datetimeToString
from twisted.web.resource import Resource
from twisted.web.server import NOT_DONE_YET, Request

from directory_server.domain.entries import OFFICIAL


@define
class Row:
    """A version. Times are seconds since the epoch."""

    name: str
    version: str
    description: str
    published_at: float
    updated_at: float
    status: str = "active"
    message: str = ""
    latest: bool = False

    @property
    def key(self) -> tuple[int, ...]:
        return tuple(map(int, self.version.split(".")))

    def item(self) -> dict[str, Any]:
        """Return the version as the API lists it."""
        official = {
            "status": self.status,
            **({"statusMessage": self.message} if self.message else {}),
            "publishedAt": _date(self.published_at),
            "updatedAt": _date(self.updated_at),
            "isLatest": self.latest,
        }
        server = {"name": self.name, "version": self.version, "description": self.description}
        return {"server": server, "_meta": {OFFICIAL: official}}


@define(eq=False, slots=False)
class OfficialRegistry(Resource):
    """A registry whose state tests change by the operations of the official one.

    Only the row that an operation names gets a new `updated_at`: a row that gains or loses the mark of the latest
    version (UnmarkAsLatest, SetLatestVersion) keeps its own. `faults` are the faults of the next requests, None for no
    fault. `between_pages` is called before each page but the first. `paths` records the paths of all requests. Without
    `has_marks` no version has `isLatest`, as in other registries.
    """

    isLeaf = True

    clock: Clock
    page_size: int = 7
    rows: dict[str, dict[str, Row]] = field(factory=dict)
    faults: list[Callable[[Request], Any] | None] = field(factory=list)
    between_pages: Callable[[], object] = lambda: None
    paths: list[str] = field(factory=list)
    has_marks: bool = True

    def __attrs_post_init__(self) -> None:
        Resource.__init__(self)

    def publish(self, name: str, version: str, description: str = "It rains.") -> None:
        now, rows = self.clock.seconds(), self.rows.setdefault(name, {})
        row = rows[version] = Row(name, version, description, now, now)
        marked = next((each for each in rows.values() if each.latest), None)
        if marked is None or row.key > marked.key:
            if marked is not None:
                marked.latest = False
            row.latest = True

    def set_status(self, name: str, version: str, status: str, message: str = "") -> None:
        row = self.rows[name][version]
        row.status, row.message, row.updated_at = status, message, self.clock.seconds()
        self._recalculate(name)

    def set_all_statuses(self, name: str, status: str, message: str = "") -> None:
        for row in self.rows[name].values():
            row.status, row.message, row.updated_at = status, message, self.clock.seconds()
        self._recalculate(name)

    def edit(self, name: str, version: str, description: str) -> None:
        row = self.rows[name][version]
        row.description, row.updated_at = description, self.clock.seconds()

    def rename(self, name: str, to: str) -> None:
        """Publish the versions of a name under another one; the name is gone without a trace."""
        for row in self.rows.pop(name).values():
            self.publish(to, row.version, row.description)

    def _recalculate(self, name: str) -> None:
        rows = self.rows[name].values()
        candidates = [row for row in rows if row.status != "deleted"] or list(rows)
        winner = max(candidates, key=lambda row: row.key)
        for row in rows:
            row.latest = row is winner

    def render_GET(self, request: Request) -> Any:
        request.setHeader(b"date", datetimeToString(self.clock.seconds()))
        self.paths.append(request.path.decode())
        fault = self.faults.pop(0) if self.faults else None
        if fault is not None:
            return fault(request)
        parameters = {name.decode(): values[0].decode() for name, values in request.args.items()}
        if b"/versions" in request.path:
            return self._versions(request, parameters)
        if "cursor" in parameters:
            self.between_pages()
        return self._list(parameters)

    def _list(self, parameters: dict[str, str]) -> bytes:
        since = parameters.get("updated_since")
        after = tuple(parameters["cursor"].rsplit(":", 1)) if "cursor" in parameters else ("", "")
        rows = [
            row
            for name in sorted(self.rows)
            for _, row in sorted(self.rows[name].items())
            if (row.name, row.version) > after
            and (parameters.get("version") != "latest" or row.latest)
            and (since is None or row.updated_at > datetime.fromisoformat(since).timestamp())
            and (since is not None or parameters.get("include_deleted") == "true" or row.status != "deleted")
        ]
        page = rows[: self.page_size]
        return self._page(page, f"{page[-1].name}:{page[-1].version}" if len(page) == self.page_size else None)

    def _versions(self, request: Request, parameters: dict[str, str]) -> bytes:
        name = unquote(request.path.decode().split("/")[3])
        rows = [
            row
            for row in sorted(self.rows.get(name, {}).values(), key=lambda row: -row.published_at)
            if parameters.get("include_deleted") == "true" or row.status != "deleted"
        ]
        if not rows:
            request.setResponseCode(404)
            return b'{"title":"Not Found","status":404,"detail":"Server not found"}'
        return self._page(rows, None)

    def _page(self, rows: list[Row], cursor: str | None) -> bytes:
        items = [row.item() for row in rows]
        for item in items if not self.has_marks else []:
            del item["_meta"][OFFICIAL]["isLatest"]
        metadata = {"count": len(rows)} | ({"nextCursor": cursor} if cursor else {})
        return json.dumps({"servers": items, "metadata": metadata}).encode()


def failing(request: Request) -> bytes:
    """Fail with a status of a server error."""
    request.setResponseCode(500)
    return b"no"


def cut(request: Request) -> Any:
    """Close the connection in the middle of a body."""
    request.setHeader(b"content-length", b"1000")
    request.write(b'{"servers": [')
    assert request.transport is not None
    request.transport.loseConnection()
    return NOT_DONE_YET


def garbled(request: Request) -> bytes:
    """Return a page of a proxy."""
    return b"<html>Bad gateway</html>"


def _date(moment: float) -> str:
    return datetime.fromtimestamp(moment, UTC).isoformat().replace("+00:00", "Z")
