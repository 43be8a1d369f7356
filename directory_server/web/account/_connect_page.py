"""The page with editor configurations and the key test."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen

from ...domain.errors import DirectoryError
from ...http import Request
from ...http.headers import value as header
from ...http.proxies import Proxies
from ..mcp import PATH, McpEndpoint
from ._editors import Editor, editors
from ._requests import AccountRequests


@frozen
class ConnectPage:
    """Handles /account/connect; `_url` is the public URL of the server, empty to derive it from the request."""

    _requests: AccountRequests
    _mcp: McpEndpoint
    _proxies: Proxies
    _url: str

    async def get(self, request: Request) -> bytes:
        """Return the editor configurations with a placeholder for the key."""
        member = await self._requests.member(request)
        values = {"editors": self.editors(request, None), "endpoint": PATH.decode()}
        return self._requests.page(request, member.session, "connect", values)

    async def test(self, request: Request) -> bytes:
        """List the tools with the key in the form and return the result. The page does not contain the key."""
        member, form = await self._requests.member_form(request)
        try:
            tools = await self._mcp.tools(request, form.get("key", "").strip())
        except DirectoryError:
            return self._requests.form_error(request, member.session, "test", {"tools": ()})
        return self._requests.page(request, member.session, "test", {"tools": tools})

    def editors(self, request: Request, key: str | None) -> Sequence[Editor]:
        """Return the configuration of each editor."""
        scheme = "https" if self._proxies.is_secure(request) else "http"
        base = self._url.rstrip("/") or f"{scheme}://{header(request, 'Host')}"
        return editors(base + PATH.decode(), key)
