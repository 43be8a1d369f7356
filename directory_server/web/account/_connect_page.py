"""The page with editor configurations for the MCP endpoint, and the key test."""

from __future__ import annotations

from hashlib import sha256

from attrs import evolve, frozen

from ...client_config import Names, Setups, endpoint_setups
from ...domain.errors import DirectoryError
from ...http import Request
from ..mcp import PATH, McpEndpoint
from ._requests import AccountRequests
from ._sessions import Session

CONNECT = "/account/connect"
TEST = f"{CONNECT}/test"

NAME = "mcp-directory"
"""Name of the server in editor configurations."""


def setups_of(url: str, secret: str = "") -> Setups:
    """Return the setups of each editor for the MCP endpoint at `url`, which contain `secret` if it is given."""
    setups = endpoint_setups(Names(NAME, input_prefix(url), "MCP_DIRECTORY"), url, "Your API key", secret)
    others = setups.setups[-1]
    headers = {"Authorization": f"Bearer {secret or '<KEY>'}", "Content-Type": "application/json"}
    transport = {"serverUrl": url, "transport": "http", "headers": headers}
    generic = {"name": NAME, **transport, "capabilities": {"tools": True}}
    # Clients of an unknown format get settings to copy from.
    editor = evolve(others.editor, file="")
    return evolve(setups, setups=[*setups.setups[:-1], evolve(others, editor=editor, config=generic)])


def input_prefix(url: str) -> str:
    """Return the prefix of the id of the VS Code input for the key of the directory at `url`.

    VS Code shares the stored value between all servers whose configuration has the same id. So the id contains a digest
    of the URL. It differs between directories, and from the ids of entries, which begin with digits of a hash.
    """
    return f"{NAME}-{sha256(url.encode()).hexdigest()[:16]}"


@frozen
class ConnectPage:
    """Handles /account/connect: for everybody if `_is_public`, else for members. `_is_open`: anyone can register."""

    _requests: AccountRequests
    _mcp: McpEndpoint
    _is_public: bool
    _is_open: bool

    async def get(self, request: Request) -> bytes:
        """Return the editor configurations with a placeholder for the key."""
        session = await self._session(request)
        values = {"setups": self.setups(request), "endpoint": PATH.decode(), "is_open": self._is_open}
        return self._requests.page(request, session, "connect", values)

    async def test(self, request: Request) -> bytes:
        """List the tools with the key in the form, and redirect to the result."""
        if not self._is_public:
            await self._requests.member(request)
        _, form = await self._requests.form(request)
        try:
            tools = await self._mcp.tools(request, form.get("key", "").strip())
        except DirectoryError:
            return self._requests.form_error(request, TEST)
        return self._requests.redirect(request, TEST, "test_passed", tools=", ".join(tools))

    async def get_test(self, request: Request) -> bytes:
        """Return the result of the last test. Without one, redirect to the editor configurations."""
        session = await self._session(request)
        if not self._requests.has_flash(request):
            return self._requests.redirect(request, CONNECT)
        return self._requests.page(request, session, "test", {"tools": ""})

    async def _session(self, request: Request) -> Session:
        """Return the session of a viewer. Raises HttpError if only members may see the page."""
        if self._is_public:
            return await self._requests.session(request)
        return (await self._requests.member(request)).session

    def setups(self, request: Request, secret: str = "") -> Setups:
        """Return the setups of each editor, which contain `secret` if it is given."""
        return setups_of(self._requests.base_url(request) + PATH.decode(), secret)
