"""The registry API's paths about the server: ping, health and version (official-registry-api.md)."""

from __future__ import annotations

from attrs import frozen

from .. import __version__
from ..domain.errors import NotFound
from ..http import Request
from .registry import RegistryAccess
from .responses import json_response

_VERSION = {"version": __version__, "git_commit": "unknown", "build_time": "unknown"}
"""The body of /version. A build of the official registry that does not know the last two says the same."""


@frozen
class RegistryStatus:
    """Handlers of the three paths. `login_hint` says how to log in; it is empty if nobody can."""

    _access: RegistryAccess
    _login_hint: str

    async def ping(self, request: Request, token: str | None = None) -> bytes:
        """Respond that the server is there."""
        await self._access.authenticate(request, token)
        return json_response(request, {"pong": True})

    async def health(self, request: Request, token: str | None = None) -> bytes:
        """Respond that the server works.

        `mcp-publisher login github` without a token reads /v0/health for a login with GitHub, which does not exist
        here. It prints the body of an error only, so there the response is one while publishers can log in.
        """
        if self._login_hint and request.path.startswith(b"/v0/"):
            raise NotFound(self._login_hint)
        await self._access.authenticate(request, token)
        return json_response(request, {"status": "ok"})

    async def version(self, request: Request, token: str | None = None) -> bytes:
        """Respond with the version of the server."""
        await self._access.authenticate(request, token)
        return json_response(request, _VERSION)
