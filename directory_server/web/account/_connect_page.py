"""The page with editor configurations for the MCP endpoint, and the key test."""

from __future__ import annotations

from hashlib import sha256

from attrs import evolve, frozen

from ...client_config import Setup, endpoint_setups
from ...domain.errors import DirectoryError
from ...http import Request
from ..mcp import PATH, McpEndpoint
from ..pages import OptionView, editor_views
from ._requests import AccountRequests

CONNECT = "/account/connect"
TEST = f"{CONNECT}/test"

NAME = "mcp-directory"
"""Name of the server in editor configurations."""


def setups_view(url: str) -> OptionView:
    """Return the setups of each editor for the MCP endpoint at `url`. No configuration has a key in it."""
    setups = endpoint_setups(NAME, input_prefix(url), url, "Key of the MCP directory")
    known = [setup for setup in setups.setups if setup.id != "others"]
    views = editor_views(evolve(setups, setups=[*known, _generic(url)]))
    return OptionView(NAME, views, setups.inputs, setups.missing)


def _generic(url: str) -> Setup:
    """Return settings for clients with a format of their own."""
    headers = {"Authorization": "Bearer <KEY>", "Content-Type": "application/json"}
    transport = {"serverUrl": url, "transport": "http", "headers": headers}
    return Setup("others", "Others", "", {"name": NAME, **transport, "capabilities": {"tools": True}}, "file")


def input_prefix(url: str) -> str:
    """Return the prefix of the id of the VS Code input for the key of the directory at `url`.

    VS Code shares the stored value between all servers whose configuration has the same id. So the id contains a digest
    of the URL. It differs between directories, and from the ids of entries, which contain a whole `mcp_id`.
    """
    return f"mcp-directory-{sha256(url.encode()).hexdigest()[:16]}"


@frozen
class ConnectPage:
    """Handles /account/connect."""

    _requests: AccountRequests
    _mcp: McpEndpoint

    async def get(self, request: Request) -> bytes:
        """Return the editor configurations with a placeholder for the key."""
        member = await self._requests.member(request)
        values = {"setups": self.setups(request), "endpoint": PATH.decode()}
        return self._requests.page(request, member.session, "connect", values)

    async def test(self, request: Request) -> bytes:
        """List the tools with the key in the form, and redirect to the result."""
        _, form = await self._requests.member_form(request)
        try:
            tools = await self._mcp.tools(request, form.get("key", "").strip())
        except DirectoryError:
            return self._requests.form_error(request, TEST)
        return self._requests.redirect(request, TEST, "test_passed", tools=", ".join(tools))

    async def get_test(self, request: Request) -> bytes:
        """Return the result of the last test. Without one, redirect to the editor configurations."""
        member = await self._requests.member(request)
        if not self._requests.has_flash(request):
            return self._requests.redirect(request, CONNECT)
        return self._requests.page(request, member.session, "test", {"tools": ""})

    def setups(self, request: Request) -> OptionView:
        """Return the setups of each editor."""
        return setups_view(self._requests.base_url(request) + PATH.decode())
