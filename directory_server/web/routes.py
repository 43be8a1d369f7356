"""The routing table: one row per path and method, and rows for the errors of other paths."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Literal

from attrs import field, frozen

from ..http.errors import ErrorResponse
from .access_log import UNMATCHED

ErrorFormat = Literal["REST", "JSON-RPC", "problem", "page"]


@frozen
class Api:
    """A family of paths with the same error format and the same rules for web pages.

    With the format `page`, only clients that accept `text/html` get a page; others get the REST format. `error_body`
    returns the body of an error response in a format that `errors` does not name. With `any_origin`, pages of every
    origin may read the responses (CORS), also those to POST if they may write. With `any_host`, requests may name any
    host and origin: load balancers check the health of a server by its address.
    """

    name: str
    errors: ErrorFormat = "REST"
    any_origin: Literal["", "read", "write"] = ""
    any_host: bool = False
    error_body: Callable[[ErrorResponse], Any] | None = None


REST = Api("REST")
MCP = Api("MCP", "JSON-RPC")
REGISTRY = Api("registry", "problem", any_origin="read")
STATUS = Api("status", any_host=True)
OAUTH = Api("OAuth")
PAGES = Api("pages", "page")


@frozen
class Route:
    """A row: a path template, its method (None: any), its API, and the name of its handler.

    The name is a group of handlers and an attribute of it, such as `rest.search`; see `routing.Routes`. In a template
    `{name}` stands for one path segment, and `{name:path}` for one or more. `changes` says that a GET request changes
    something, as the return of a browser from a sign-in elsewhere does.
    """

    path: str
    method: str | None
    api: Api
    handler: str = ""
    changes: bool = False
    label: str = field(init=False)

    @label.default
    def _label(self) -> str:
        """Return the path template for logs, metrics and docs/protocol.md: `*` stands for several segments."""
        return _PARAMETER.sub(lambda match: "*" if match[2] else match[0], self.path) if self.handler else UNMATCHED

    @property
    def rule(self) -> str:
        """Return the path template in werkzeug's syntax."""
        return _PARAMETER.sub(lambda match: f"<path:{match[1]}>" if match[2] else f"<{match[1]}>", self.path)

    @property
    def is_exact(self) -> bool:
        """Return whether the path has no parameters."""
        return "{" not in self.path


_PARAMETER = re.compile(r"\{(\w+)(:path)?\}")


_STATUS_NAMES = ("ping", "health", "version")


def _registry(version: str, prefix: str = "") -> list[Route]:
    servers = f"{prefix}/{version}/servers"
    one = f"{servers}/{{name:path}}/versions/{{version}}"
    return [
        *(Route(f"{prefix}/{version}/{name}", "GET", REGISTRY, f"status.{name}") for name in _STATUS_NAMES),
        Route(servers, "GET", REGISTRY, "registry.servers"),
        Route(f"{servers}/{{name:path}}/versions", "GET", REGISTRY, "registry.versions"),
        Route(one, "GET", REGISTRY, "registry.version"),
        *(Route(one, method, REGISTRY, "registry.edit") for method in ("PUT", "DELETE")),
    ]


ROUTES: tuple[Route, ...] = (
    Route("/api/open/v1/search", "GET", REST, "rest.search"),
    Route("/api/open/v1/entries/{mcp_id}", "GET", REST, "rest.entry"),
    Route("/api/open/v1/changes", "GET", REST, "changes.get"),
    Route("/api/open/openapi.json", "GET", REST, "common.openapi"),
    Route("/api/open/mcp", "POST", MCP, "mcp.post"),
    Route("/api/open/mcp", "GET", MCP, "mcp.get"),
    Route("/api/open/mcp", "DELETE", MCP, "mcp.delete"),
    *_registry("v0.1"),
    *_registry("v0"),
    *_registry("v0.1", "/r/{token}"),
    *_registry("v0", "/r/{token}"),
    # Some clients ask for {url}/servers, whatever the version.
    *(Route(f"{prefix}/servers", "GET", REGISTRY, "registry.servers") for prefix in ("", "/r/{token}")),
    Route("/healthz", "GET", STATUS, "health.live"),
    Route("/readyz", "GET", STATUS, "health.ready"),
    Route("/.well-known/{_:path}", None, OAUTH, "common.oauth"),
    Route("/api/open/mcp/.well-known/{_:path}", None, OAUTH, "common.oauth"),
    Route("/register", None, OAUTH, "common.oauth"),
    Route("/", "GET", PAGES, "search.get"),
    Route("/servers/{mcp_id}", "GET", PAGES, "entry.get"),
    Route("/publishers/{namespace}", "GET", PAGES, "publisher.get"),
    Route("/news", "GET", PAGES, "pages.notifications"),
    Route("/assets/{name}", "GET", PAGES, "common.asset"),
    Route("/account", "GET", PAGES, "account.keys.get_account"),
    Route("/account/sign-in", "GET", PAGES, "account.sign_in.get"),
    Route("/account/sign-in", "POST", PAGES, "account.sign_in.post"),
    Route("/account/sign-out", "POST", PAGES, "account.sign_in.sign_out"),
    Route("/account/invitation/{token}", "GET", PAGES, "account.sign_in.get_invitation"),
    Route("/account/invitation/{token}", "POST", PAGES, "account.sign_in.post_invitation"),
    Route("/account/register", "GET", PAGES, "account.sign_in.get_registration"),
    Route("/account/register", "POST", PAGES, "account.sign_in.post_registration"),
    Route("/account/password", "GET", PAGES, "account.settings.get_password"),
    Route("/account/password", "POST", PAGES, "account.settings.post_password"),
    Route("/account/delete", "GET", PAGES, "account.settings.get_delete"),
    Route("/account/delete", "POST", PAGES, "account.settings.post_delete"),
    Route("/account/sessions", "GET", PAGES, "account.sessions.get"),
    Route("/account/sessions/end-others", "POST", PAGES, "account.sessions.end_others"),
    Route("/account/sessions/{session_id}/end", "POST", PAGES, "account.sessions.end"),
    Route("/account/keys", "GET", PAGES, "account.keys.get"),
    Route("/account/keys", "POST", PAGES, "account.keys.post"),
    Route("/account/keys/{key_id}/rename", "GET", PAGES, "account.keys.get_rename"),
    Route("/account/keys/{key_id}/rename", "POST", PAGES, "account.keys.rename"),
    Route("/account/keys/{key_id}/rotate", "GET", PAGES, "account.keys.get_rotate"),
    Route("/account/keys/{key_id}/rotate", "POST", PAGES, "account.keys.rotate"),
    Route("/account/keys/{key_id}/secret", "GET", PAGES, "account.keys.secret"),
    Route("/account/keys/{key_id}/revoke", "GET", PAGES, "account.keys.confirm_revoke"),
    Route("/account/keys/{key_id}/revoke", "POST", PAGES, "account.keys.revoke"),
    Route("/account/connect", "GET", PAGES, "account.connect.get"),
    Route("/account/connect/test", "GET", PAGES, "account.connect.get_test"),
    Route("/account/connect/test", "POST", PAGES, "account.connect.test"),
)
"""All rows but those of features. GET routes also serve HEAD."""

_UNMATCHED = tuple(
    (prefix.encode(), Route(prefix, None, api))
    for prefix, api in [
        ("/api/", REST),
        ("/v0/", REGISTRY),
        ("/v0.1/", REGISTRY),
        ("/r/", REGISTRY),
        ("/.well-known/", OAUTH),
        ("/register", OAUTH),
        ("/healthz", STATUS),
        ("/readyz", STATUS),
        ("", PAGES),
    ]
)
"""Rows for the error responses of paths without a route, by prefix; the first match counts."""


def unmatched(path: bytes) -> Route:
    """Return a row without a handler for a path without a route: its API decides the format of the error."""
    return next(route for prefix, route in _UNMATCHED if path.startswith(prefix))
