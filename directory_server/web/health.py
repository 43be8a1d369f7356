"""Liveness and readiness of the process: `/healthz` and `/readyz`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from attrs import evolve, field, frozen

from .. import __version__, serialization
from ..domain.ports.access import TokenIssuer
from ..domain.ports.search import Index
from ..domain.upstreams import UpstreamState
from ..http import Request
from .responses import json_response

NOT_READY_REASONS = ("index", "storage", "draining")
"""Reasons for not being ready: the index is not loaded, the storage fails, the process is stopping."""


DatabaseState = Literal["available", "away"]


@frozen
class HealthResponse:
    """Body of `/healthz`."""

    status: Literal["ok"]
    entries: int = field(
        metadata={"minimum": 0, "description": "The number of searchable entries; 0 if readers see different entries."}
    )
    generation: int = field(
        metadata={"minimum": 0, "description": "The number of changes of the index since the process started."}
    )


@frozen
class UpstreamHealth:
    """Public state of an upstream. The error text is only in `directory-server status` and the log."""

    status: Literal["new", "ok", "failing"] = field(
        metadata={"description": "new before the end of the first sync run."}
    )
    entries: int = field(metadata={"minimum": 0, "description": "The number of entries of this upstream."})
    last_success: str | None = field(metadata={"description": "Time of the last successful sync run (RFC 3339)."})


@frozen
class IssuerHealth:
    """Public state of an issuer of tokens."""

    status: Literal["new", "ok", "failing"] = field(
        metadata={"description": "new before its keys were fetched, failing since a fetch failed."}
    )
    last_success: str | None = field(metadata={"description": "Time when its keys were fetched last (RFC 3339)."})


@frozen
class FullHealth(HealthResponse):
    """Body of `/healthz` with `http.health = "full"`."""

    version: str = field(metadata={"description": "Version of the server."})
    upstreams: Mapping[str, UpstreamHealth] = field(metadata={"description": "State of each upstream, by its name."})
    issuers: Mapping[str, IssuerHealth] = field(
        metadata={"description": "State of each issuer whose tokens publish entries, by its URL."}
    )
    faults: Mapping[str, int] = field(
        metadata={"description": "Numbers of what does not work, by name, such as `paused_webhooks`."}
    )


_DATABASE = field(
    metadata={"description": "Whether the shared database responds; absent if the server has no shared database."}
)

_SINCE = field(
    metadata={"description": "Since when the database is away (RFC 3339); null if it is available. Absent as above."}
)


@frozen
class DatabaseHealth(HealthResponse):
    """Body of `/healthz` of a server with a shared database."""

    database: DatabaseState = _DATABASE
    since: str | None = _SINCE


@frozen
class FullDatabaseHealth(FullHealth):
    """Body of `/healthz` of a server with a shared database, with `http.health = "full"`."""

    database: DatabaseState = _DATABASE
    since: str | None = _SINCE


@frozen
class Ready:
    """Body of `/readyz`."""

    status: Literal["ready"]


@frozen
class NotReady:
    """Body of `/readyz` with status 503."""

    status: Literal["unavailable"]
    reasons: Sequence[str] = field(
        metadata={"items": {"enum": list(NOT_READY_REASONS)}, "description": "Reasons for not being ready."}
    )


@frozen(eq=False)
class Health:
    """Handlers of both paths. They read memory only: no response waits for a database.

    `not_ready_reasons` returns the subset of NOT_READY_REASONS that applies. With `is_full`, the response of `/healthz`
    includes the version, the state of the upstreams and of the issuers, and the `faults` of features. `away_since`
    returns since when the shared database does not respond, in seconds since the epoch, None if it responds; it is None
    without such a database. With `hides_counts` numbers of entries are 0, because readers see different entries. The
    status is 200 in any case: all machines lose the database together, and pages and open streams work without it.
    """

    _index: Index
    _not_ready_reasons: Callable[[], Sequence[str]] = tuple
    _is_full: bool = False
    _upstreams: Callable[[], Sequence[UpstreamState]] = tuple
    _away_since: Callable[[], float | None] | None = None
    _issuers: Sequence[TokenIssuer] = ()
    _hides_counts: bool = False
    _faults: Sequence[Callable[[], Mapping[str, int]]] = ()

    async def live(self, request: Request) -> bytes:
        """Respond to `/healthz` with 200."""
        index = self._index
        entries, generation = (0, 0) if self._hides_counts else (len(index), index.generation)
        upstreams = {each.name: self._state(each) for each in self._upstreams()} if self._is_full else {}
        # Features fetch the keys of an issuer apart: the state is that of the last success.
        known = sorted(self._issuers, key=lambda issuer: issuer.last_success or 0) if self._is_full else ()
        issuers = {issuer.url: _issuer_state(issuer) for issuer in known}
        numbers = {name: number for faults in self._faults for name, number in faults().items() if self._is_full}
        if self._away_since is None:
            if not self._is_full:
                return json_response(request, HealthResponse("ok", entries, generation))
            body = FullHealth("ok", entries, generation, __version__, upstreams, issuers, numbers)
            return json_response(request, body)
        away_since = self._away_since()
        database: DatabaseState = "available" if away_since is None else "away"
        since = None if away_since is None else serialization.rfc3339(away_since)
        if not self._is_full:
            return json_response(request, DatabaseHealth("ok", entries, generation, database, since))
        return json_response(
            request,
            FullDatabaseHealth(
                "ok", entries, generation, __version__, upstreams, issuers, numbers, database=database, since=since
            ),
        )

    def _state(self, upstream: UpstreamState) -> UpstreamHealth:
        state = _state(upstream)
        return evolve(state, entries=0) if self._hides_counts else state

    async def ready(self, request: Request) -> bytes:
        """Respond to `/readyz` with 200 if the process can serve requests, else with 503 and the reasons."""
        if reasons := self._not_ready_reasons():
            return json_response(request, NotReady("unavailable", list(reasons)), 503, **{"Retry-After": "1"})
        return json_response(request, Ready("ready"))


def _issuer_state(issuer: TokenIssuer) -> IssuerHealth:
    last_success = None if issuer.last_success is None else serialization.rfc3339(issuer.last_success)
    return IssuerHealth("failing" if issuer.error else "ok" if last_success else "new", last_success)


def _state(upstream: UpstreamState) -> UpstreamHealth:
    last_success = None if upstream.last_success is None else serialization.rfc3339(upstream.last_success)
    status: Literal["new", "ok", "failing"] = "failing" if upstream.error else "ok" if last_success else "new"
    return UpstreamHealth(status, upstream.entries, last_success)
