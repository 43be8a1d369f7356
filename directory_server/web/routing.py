"""Every path that the server answers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from attrs import frozen
from klein import Klein
from twisted.python.failure import Failure

from ..http import Request
from ..http.errors import ErrorResponse
from .account import AccountPages
from .changes import PATH as CHANGES_PATH
from .changes import ChangesHandler
from .error_responses import error_response, note_error, respond_with_error, rest_error_body
from .health import Health
from .mcp import PATH as MCP_PATH
from .mcp import McpEndpoint, rpc_body
from .openapi import DOCUMENT
from .openapi import PATH as OPENAPI_PATH
from .pages import ASSETS_PATH, PageHandlers, wants_page
from .registry import RegistryHandlers, is_registry, problem
from .responses import json_response
from .rest import RestHandlers
from .route_templates import RouteTemplates

_KEYS_NOT_OAUTH = {
    "error": "invalid_request",
    "error_description": "This server uses API keys, not OAuth. Set the header Authorization: Bearer <key>.",
}

Handler = Callable[[Request], Awaitable[bytes | None]]
"""Answers a request with a body, soon or later; with None where it gave the connection away."""


@frozen(eq=False)
class Routes:
    """The tree of paths, and behind each the room that answers it. GET answers HEAD, too."""

    app = Klein()
    # //healthz is no other way to write /healthz.
    app.url_map.merge_slashes = False

    _rest: RestHandlers
    _changes: ChangesHandler
    _mcp: McpEndpoint
    _registry: RegistryHandlers
    _health: Health
    _pages: PageHandlers
    _account: AccountPages

    @app.route("/api/open/v1/search", methods=["GET"])
    async def search(self, request: Request) -> bytes:
        """Search by keywords."""
        return await self._rest.search(request)

    @app.route("/api/open/v1/entries/<mcp_id>", methods=["GET"])
    async def entry(self, request: Request, mcp_id: str) -> bytes:
        """Look up one entry."""
        return await self._rest.entry(request, mcp_id)

    @app.route(CHANGES_PATH, methods=["GET"])
    async def changes(self, request: Request) -> bytes | None:
        """Tell what has changed, and what changes."""
        return await self._changes.get(request)

    @app.route(MCP_PATH.decode(), methods=["POST"])
    async def mcp_message(self, request: Request) -> bytes | None:
        """Answer JSON-RPC."""
        return await self._mcp.post(request)

    @app.route(MCP_PATH.decode(), methods=["GET"])
    async def mcp_stream(self, request: Request) -> bytes | None:
        """Open a stream of events."""
        return await self._mcp.get(request)

    @app.route(MCP_PATH.decode(), methods=["DELETE"])
    async def mcp_session(self, request: Request) -> bytes:
        """Refuse to end a session."""
        return await self._mcp.delete(request)

    @app.route("/v0.1/servers", methods=["GET"])
    @app.route("/v0/servers", methods=["GET"])
    @app.route("/r/<token>/v0.1/servers", methods=["GET"])
    @app.route("/r/<token>/v0/servers", methods=["GET"])
    async def registry_servers(self, request: Request, token: str | None = None) -> bytes:
        """List servers to editors."""
        return await self._registry.servers(request, token)

    @app.route("/v0.1/servers/<path:name>/versions", methods=["GET"])
    @app.route("/v0/servers/<path:name>/versions", methods=["GET"])
    @app.route("/r/<token>/v0.1/servers/<path:name>/versions", methods=["GET"])
    @app.route("/r/<token>/v0/servers/<path:name>/versions", methods=["GET"])
    async def registry_versions(self, request: Request, name: str, token: str | None = None) -> bytes:
        """List the versions of a server to editors."""
        return await self._registry.versions(request, name, token)

    @app.route("/v0.1/servers/<path:name>/versions/<version>", methods=["GET"])
    @app.route("/v0/servers/<path:name>/versions/<version>", methods=["GET"])
    @app.route("/r/<token>/v0.1/servers/<path:name>/versions/<version>", methods=["GET"])
    @app.route("/r/<token>/v0/servers/<path:name>/versions/<version>", methods=["GET"])
    async def registry_version(self, request: Request, name: str, version: str, token: str | None = None) -> bytes:
        """Give editors one version of a server."""
        return await self._registry.version(request, name, version, token)

    @app.route("/healthz", methods=["GET"])
    async def healthz(self, request: Request) -> bytes:
        """Answer whether the process is alive."""
        return self._health.live(request)

    @app.route("/readyz", methods=["GET"])
    async def readyz(self, request: Request) -> bytes:
        """Answer whether the process can answer requests."""
        return self._health.ready(request)

    @app.route(OPENAPI_PATH, methods=["GET"])
    async def openapi(self, request: Request) -> bytes:
        """Describe the REST door to programs."""
        return json_response(request, DOCUMENT)

    @app.route("/account/sign-in", methods=["GET"])
    async def sign_in_form(self, request: Request) -> bytes:
        """Ask for address and password."""
        return await self._account.sign_in.get(request)

    @app.route("/account/sign-in", methods=["POST"])
    async def sign_in(self, request: Request) -> bytes:
        """Begin a session."""
        return await self._account.sign_in.post(request)

    @app.route("/account/sign-out", methods=["POST"])
    async def sign_out(self, request: Request) -> bytes:
        """End a session."""
        return await self._account.sign_in.sign_out(request)

    @app.route("/account/invitation/<token>", methods=["GET"])
    async def invitation(self, request: Request, token: str) -> bytes:
        """Ask somebody invited for a password."""
        return await self._account.sign_in.get_invitation(request, token)

    @app.route("/account/invitation/<token>", methods=["POST"])
    async def accept(self, request: Request, token: str) -> bytes:
        """Take an invitation up."""
        return await self._account.sign_in.post_invitation(request, token)

    @app.route("/account/register", methods=["GET"])
    async def registration(self, request: Request) -> bytes:
        """Ask anybody for address and password."""
        return await self._account.sign_in.get_registration(request)

    @app.route("/account/register", methods=["POST"])
    async def register_account(self, request: Request) -> bytes:
        """Make an account."""
        return await self._account.sign_in.post_registration(request)

    @app.route("/account/password", methods=["GET"])
    async def password_form(self, request: Request) -> bytes:
        """Ask for the old password and a new one."""
        return await self._account.sign_in.get_password(request)

    @app.route("/account/password", methods=["POST"])
    async def change_password(self, request: Request) -> bytes:
        """Change a password."""
        return await self._account.sign_in.post_password(request)

    @app.route("/account/keys", methods=["GET"])
    async def keys(self, request: Request) -> bytes:
        """List a member's keys."""
        return await self._account.keys.get(request)

    @app.route("/account/keys", methods=["POST"])
    async def create_key(self, request: Request) -> bytes:
        """Make a key."""
        return await self._account.keys.post(request)

    @app.route("/account/keys/<key_id>/rotate", methods=["POST"])
    async def rotate_key(self, request: Request, key_id: str) -> bytes:
        """Give a key a new secret."""
        return await self._account.keys.rotate(request, key_id)

    @app.route("/account/keys/<key_id>/rotate", methods=["GET"])
    async def rotate_key_form(self, request: Request, key_id: str) -> bytes:
        """Redirect to the list of keys, which has the form."""
        return await self._account.keys.get_rotate(request, key_id)

    @app.route("/account/keys/<key_id>/secret", methods=["GET"])
    async def key_secret(self, request: Request, key_id: str) -> bytes:
        """Show the secret of a key that was just created or rotated, once."""
        return await self._account.keys.secret(request, key_id)

    @app.route("/account/keys/<key_id>/revoke", methods=["GET"])
    async def ask_to_revoke_key(self, request: Request, key_id: str) -> bytes:
        """Ask whether a key is to end."""
        return await self._account.keys.confirm_revoke(request, key_id)

    @app.route("/account/keys/<key_id>/revoke", methods=["POST"])
    async def revoke_key(self, request: Request, key_id: str) -> bytes:
        """End a key."""
        return await self._account.keys.revoke(request, key_id)

    @app.route("/account/connect", methods=["GET"])
    async def connect(self, request: Request) -> bytes:
        """Say what to paste into an editor."""
        return await self._account.connect.get(request)

    @app.route("/account/connect/test", methods=["POST"])
    async def test_key(self, request: Request) -> bytes:
        """Try a key."""
        return await self._account.connect.test(request)

    @app.route("/.well-known/<path:_>")
    @app.route(MCP_PATH.decode() + "/.well-known/<path:_>")
    async def well_known(self, request: Request, _: str) -> bytes:
        """Tell clients that probe for OAuth what to do instead; they show this to a person."""
        return json_response(request, _KEYS_NOT_OAUTH, 404)

    @app.route("/register")
    async def register(self, request: Request) -> bytes:
        """Answer dynamic client registration (RFC 7591, section 3.2.2) as the probes above."""
        return json_response(request, _KEYS_NOT_OAUTH, 404)

    @app.route("/", methods=["GET"])
    async def search_page(self, request: Request) -> bytes:
        """Let people search."""
        return await self._pages.search(request)

    @app.route("/servers/<mcp_id>", methods=["GET"])
    async def entry_page(self, request: Request, mcp_id: str) -> bytes:
        """Show people an entry."""
        return await self._pages.entry(request, mcp_id)

    @app.route("/news", methods=["GET"])
    async def news(self, request: Request) -> bytes | None:
        """Tell open pages what happens."""
        return await self._pages.watch(request)

    @app.route(ASSETS_PATH + "<name>", methods=["GET"])
    async def asset(self, request: Request, name: str) -> bytes:
        """Answer a file that pages are made with."""
        return self._pages.frame.assets.get(request, name)

    @app.handle_errors(Exception)  # type: ignore[arg-type]  # Klein's type leaves no room for self
    def respond_with_error(self, request: Request, failure: Failure) -> bytes:
        """Answer what a handler raised."""
        return self.refused(request, failure)

    def refused(self, request: Request, failure: Failure) -> bytes:
        """Answer a request that failed: with a page for people, else in the form of the door that it came to."""
        if wants_page(request):
            refused = error_response(failure)
            note_error(request, refused.code)
            return self._pages.frame.refuse(request, refused)
        body = respond_with_error(request, failure, form(request.path))
        if body and is_registry(request.path):
            request.setHeader("Content-Type", "application/problem+json")
        return body

    def exact(self) -> Mapping[tuple[bytes, bytes], Handler]:
        """Return what answers the paths that have no pattern in them, by method and path."""
        app = self.app
        return {
            # Klein names an endpoint after its method, which is all that a path without a pattern needs.
            (method.encode(), rule.rule.encode()): getattr(self, rule.endpoint)
            for rule in app.url_map.iter_rules()
            if rule.is_leaf and not rule.arguments
            for method in rule.methods or ()
        }

    def templates(self) -> RouteTemplates:
        """Return what knows the template of each path."""
        return RouteTemplates(rule.rule for rule in self.app.url_map.iter_rules())


def form(path: bytes) -> Callable[[ErrorResponse], Any]:
    """Return what makes the body of a refusal for the door at `path`."""
    if is_registry(path):
        return problem
    return rpc_body if path == MCP_PATH else rest_error_body
