"""Liveness and readiness of the process: `/healthz` and `/readyz`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from attrs import frozen
from twisted.web.server import Request

from .. import __version__, serialization
from ..domain.ports.search import Index
from ..domain.upstreams import UpstreamState
from .responses import json_response

OBSTACLES = ("index", "storage", "draining")
"""Why a process may not be ready: the index is not loaded, the storage fails, the process is stopping."""


@frozen(eq=False)
class Health:
    """Answers both paths, from memory alone: no answer waits for a database.

    `obstacles` returns why the process should get no requests, out of OBSTACLES. Where `is_full`,
    anybody learns the version and the state of the upstreams.
    """

    _index: Index
    _obstacles: Callable[[], Sequence[str]] = tuple
    _is_full: bool = False
    _upstreams: Callable[[], Sequence[UpstreamState]] = tuple

    def live(self, request: Request) -> bytes:
        """Answer `/healthz`: 200 for as long as the process answers at all."""
        index = self._index
        health: dict[str, Any] = {"status": "ok", "entries": len(index), "generation": index.generation}
        if self._is_full:
            health["version"] = __version__
            health["upstreams"] = {each.name: _state(each) for each in self._upstreams()}
        return json_response(request, health)

    def ready(self, request: Request) -> bytes:
        """Answer `/readyz`: 200 where the process can answer requests, else 503 and the reasons."""
        if obstacles := self._obstacles():
            return json_response(
                request, {"status": "unavailable", "reasons": list(obstacles)}, 503, **{"Retry-After": "1"}
            )
        return json_response(request, {"status": "ready"})


def _state(upstream: UpstreamState) -> dict[str, Any]:
    """Return what anybody may know of an upstream; `directory-server status` and the log say why it fails."""
    return {
        "status": "failing" if upstream.error else "ok" if upstream.last_success else "new",
        "entries": upstream.entries,
        "last_success": upstream.last_success and serialization.rfc3339(upstream.last_success),
    }
