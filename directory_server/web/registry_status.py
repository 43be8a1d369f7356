"""The registry API's paths about the server: ping, health and version (official-registry-api.md)."""

from __future__ import annotations

from attrs import frozen

from .. import __version__
from ..domain.errors import NotFound
from ..http import Request
from .registry import RegistryAccess
from .responses import json_response

LOGIN_HINT = "Log in with: mcp-publisher login github --token <publisher token> --registry <URL>."

_VERSION = {"version": __version__, "git_commit": "unknown", "build_time": "unknown"}
"""The body of /version. A build of the official registry that does not know the last two says the same."""


@frozen
class RegistryStatus:
    """Handlers of the three paths. `publishes` is whether publishing is on."""

    _access: RegistryAccess
    _publishes: bool

    async def ping(self, request: Request, token: str | None = None) -> bytes:
        """Respond that the server is there."""
        await self._access.authenticate(request, token)
        return json_response(request, {"pong": True})

    async def health(self, request: Request, token: str | None = None) -> bytes:
        """Respond that the server works.

        `mcp-publisher login github` without a token reads /v0/health for a login with GitHub, which does not exist
        here. It prints the body of an error only, so there the response is one while publishing is on.
        """
        if self._publishes and request.path.startswith(b"/v0/"):
            raise NotFound(LOGIN_HINT)
        await self._access.authenticate(request, token)
        return json_response(request, {"status": "ok"})

    async def version(self, request: Request, token: str | None = None) -> bytes:
        """Respond with the version of the server."""
        await self._access.authenticate(request, token)
        return json_response(request, _VERSION)
