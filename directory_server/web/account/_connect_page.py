"""The page that says what to paste into an editor, and tries a key."""

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
    """Answers that page; `url` is where people reach the server, empty for where the request came."""

    _visits: AccountRequests
    _mcp: McpEndpoint
    _proxies: Proxies
    _url: str

    async def get(self, request: Request) -> bytes:
        """Answer what to paste, with a place for the key."""
        member = await self._visits.member(request)
        values = {"editors": self.editors(request, None), "endpoint": PATH.decode()}
        return self._visits.page(request, member.visitor, "connect", values)

    async def test(self, request: Request) -> bytes:
        """Ask what an editor asks first, by the key in the form, and say what came back; the key is not shown."""
        member, form = await self._visits.members_form(request)
        try:
            tools = await self._mcp.tools(request, form.get("key", "").strip())
        except DirectoryError:
            return self._visits.again(request, member.visitor, "test", {"tools": ()})
        return self._visits.page(request, member.visitor, "test", {"tools": tools})

    def editors(self, request: Request, key: str | None) -> Sequence[Editor]:
        """Return what to paste into each editor."""
        scheme = "https" if self._proxies.is_secure(request) else "http"
        base = self._url.rstrip("/") or f"{scheme}://{header(request, 'Host')}"
        return editors(base + PATH.decode(), key)
