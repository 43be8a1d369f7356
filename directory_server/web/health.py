"""Liveness and readiness of the process: `/healthz` and `/readyz`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from attrs import evolve, field, frozen

from .. import __version__, serialization
from ..domain.ports.access import TokenIssuer
from ..domain.ports.points import Point
from ..domain.ports.search import Index
from ..domain.upstreams import UpstreamState
from ..http import Request
from .responses import json_response
from .routes import STATUS, App

NOT_READY_REASONS = ("index", "storage", "draining")
"""Reasons for not being ready: the index is not loaded, the storage fails, the process is stopping."""


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
class HealthResponse:
    """Body of `/healthz`.

    `version` to `faults` are in it with `http.health = "full"`. The last two are those of a shared database.
    """

    status: Literal["ok"]
    entries: int = field(
        metadata={"minimum": 0, "description": "The number of searchable entries; 0 if readers see different entries."}
    )
    generation: int = field(
        metadata={"minimum": 0, "description": "The number of changes of the index since the process started."}
    )
    version: str = field(default="", metadata={"description": "Version of the server."})
    upstreams: Mapping[str, UpstreamHealth] = field(
        factory=dict, metadata={"description": "State of each upstream, by its name."}
    )
    issuers: Mapping[str, IssuerHealth] = field(
        factory=dict, metadata={"description": "State of each issuer whose tokens publish entries, by its URL."}
    )
    faults: Mapping[str, int] = field(
        factory=dict, metadata={"description": "Numbers of what does not work, by name, such as `paused_webhooks`."}
    )
    database: Literal["available", "away"] = field(
        default="available",
        metadata={"description": "Whether the shared database responds; absent if the server has no shared database."},
    )
    since: str | None = field(
        default=None,
        metadata={
            "description": "Since when the database is away (RFC 3339); null if it is available. Absent as above."
        },
    )


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
    to an allowed host (DNS rebinding) includes the version, the state of the upstreams and of the issuers, and the
    `faults` of features. `away_since` returns since when the shared database does not respond, in seconds since the
    epoch, None if it responds; it is None without such a database. With `hides_counts` numbers of entries are 0,
    because readers see different entries. The status is 200 in any case: all machines lose the database together, and
    pages and open streams work without it.
    """

    app = App(STATUS)

    _index: Index
    _not_ready_reasons: Callable[[], Sequence[str]] = tuple
    _is_full: bool = False
    _upstreams: Callable[[], Sequence[UpstreamState]] = tuple
    _away_since: Callable[[], float | None] | None = None
    _issuers: Sequence[TokenIssuer] = ()
    _hides_counts: bool = False
    _faults: Sequence[Callable[[], Mapping[str, int]]] = ()

    @app.get("/healthz")
    async def live(self, request: Request) -> bytes:
        index = self._index
        entries, generation = (0, 0) if self._hides_counts else (len(index), index.generation)
        body: dict[str, object] = {"status": "ok", "entries": entries, "generation": generation}
        if self._is_full and not request.is_foreign:
            # Features fetch the keys of an issuer apart: the state is that of the last success.
            issuers = sorted(self._issuers, key=lambda issuer: issuer.last_success or 0)
            body |= {
                "version": __version__,
                "upstreams": {upstream.name: self._state(upstream) for upstream in self._upstreams()},
                "issuers": {issuer.url: _issuer_state(issuer) for issuer in issuers},
                "faults": {name: number for faults in self._faults for name, number in faults().items()},
            }
        if self._away_since is not None:
            since = self._away_since()
            state = "available" if since is None else "away"
            body |= {"database": state, "since": None if since is None else serialization.rfc3339(since)}
        return json_response(request, body)

    def _state(self, upstream: UpstreamState) -> UpstreamHealth:
        state = _state(upstream)
        return evolve(state, entries=0) if self._hides_counts else state

    @app.get("/readyz")
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


ISSUERS = Point[TokenIssuer]()
"""Those whose tokens features accept."""
