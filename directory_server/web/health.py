"""Liveness and readiness of the process: `/healthz` and `/readyz`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from attrs import frozen

from .. import __version__, serialization
from ..domain.ports.search import Index
from ..domain.upstreams import UpstreamState
from ..http import Request
from .responses import json_response

NOT_READY_REASONS = ("index", "storage", "draining")
"""Reasons for not being ready: the index is not loaded, the storage fails, the process is stopping."""


@frozen(eq=False)
class Health:
    """Handlers of both paths. They read memory only: no response waits for a database.

    `not_ready_reasons` returns the subset of NOT_READY_REASONS that applies. With `is_full`, the response of
    `/healthz` includes the version and the state of the upstreams.
    """

    _index: Index
    _not_ready_reasons: Callable[[], Sequence[str]] = tuple
    _is_full: bool = False
    _upstreams: Callable[[], Sequence[UpstreamState]] = tuple

    async def live(self, request: Request) -> bytes:
        """Respond to `/healthz` with 200."""
        index = self._index
        health: dict[str, Any] = {"status": "ok", "entries": len(index), "generation": index.generation}
        if self._is_full:
            health["version"] = __version__
            health["upstreams"] = {each.name: _state(each) for each in self._upstreams()}
        return json_response(request, health)

    async def ready(self, request: Request) -> bytes:
        """Respond to `/readyz` with 200 if the process can serve requests, else with 503 and the reasons."""
        if reasons := self._not_ready_reasons():
            return json_response(
                request, {"status": "unavailable", "reasons": list(reasons)}, 503, **{"Retry-After": "1"}
            )
        return json_response(request, {"status": "ready"})


def _state(upstream: UpstreamState) -> dict[str, Any]:
    """Return the public state of an upstream. The error text is only in `directory-server status` and the log."""
    return {
        "status": "failing" if upstream.error else "ok" if upstream.last_success else "new",
        "entries": upstream.entries,
        "last_success": upstream.last_success and serialization.rfc3339(upstream.last_success),
    }
