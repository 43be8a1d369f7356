"""The registry API (the official registry's OpenAPI, v0.1): the form of the directory that VS Code and Copilot read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol
from urllib.parse import unquote

from attrs import frozen
from werkzeug.exceptions import NotFound as UnknownPath

from .. import __version__, serialization
from ..domain.errors import NotFound
from ..domain.kinds import SERVER, kind_of
from ..domain.ports.access import Scopes
from ..domain.ports.points import Point
from ..domain.ports.runtime import Offload
from ..domain.search import Position, Query
from ..domain.versions import Version, VersionFilter
from ..http import Request
from ..http.errors import HttpError
from ..http.headers import query
from ..services.catalogue import Catalogue, decide_scope
from ..services.directory import Directory
from ..tables import StoredRegistryTokens
from .authentication import Authenticator
from .responses import (
    SMALLEST,
    ReadAccess,
    accepts_gzip,
    conditional_response,
    entity_tag,
    gzip,
    is_known,
    json_response,
)
from .routes import REGISTRY, App, versioned
from .throttling import AddressLimiter

FILTERED_PAGES = 10
"""Pages of hits among which a search with filters looks for one page of versions."""

PAGE_BYTES = 1_000_000
"""Bytes of entries after which a page ends. 100 real entries have 93,000 bytes."""

LARGE = 100_000
"""Bytes from which a body is compressed in a thread. They take 1.2 ms, and 1 MB takes 12 ms."""

MAX_AGE = 60
"""Seconds for which a response may be cached."""

VersionPage = tuple[Sequence[Version], tuple[Any, str] | None]
"""The versions of a page, and the position of the next page, None on the last."""


class RegistryReaders(Protocol):
    """Clients of a feature, with secrets of their own, that may read in every mode."""

    @property
    def login_hint(self) -> str:
        """The text for clients that try to log in with another method."""

    def recognizes(self, request: Request) -> bool:
        """Return whether a request has a secret of this form."""

    async def authenticate(self, request: Request) -> object:
        """Authenticate a request by the secret in its Authorization header. Raises Unauthorized and Throttled."""


REGISTRY_READERS = Point[RegistryReaders]()
"""They may read the registry API in every mode."""


@frozen
class RegistryAccess(ReadAccess):
    """Authentication by `mode`: off, public, secret-path or key.

    `reads` limits requests without a key, `failures` limits unknown tokens.
    `readers` read in every mode. `scopes` decide which entries a request may see. With them, clients with a key may
    read in every mode but `off`, and the path of a list is one without a token.
    """

    _authenticator: Authenticator
    _tokens: StoredRegistryTokens
    _reads: AddressLimiter
    _failures: AddressLimiter
    readers: Sequence[RegistryReaders]
    scopes: Scopes | None = None

    async def authenticate(self, request: Request, token: str | None) -> str:
        """Authenticate a request whose path contains `token`, or None.

        Returns the id of the client: that of its API key, else its network.

        Raises UnknownPath if the mode has no such path or the token is unknown, Unauthorized, or Throttled.
        """
        for readers in self.readers:
            if token is None and readers.recognizes(request):
                await readers.authenticate(request)
                await decide_scope(self.scopes, request, None)
                return self._reads.client(request)
        has_key = self.scopes is not None and token is None and self._has_key(request)
        if self.mode == "off" or (not has_key and (token is not None) != (self.mode == "secret-path")):
            raise UnknownPath
        if has_key or self.mode == "key":
            async with self._authenticator.authenticate(request) as authenticated:
                return authenticated.key.client_id
        registered = None if token is None else await self._tokens.find(token)
        if token is not None and registered is None:
            self._failures.charge(request)
            raise UnknownPath
        self._reads.charge(request)
        await decide_scope(self.scopes, request, None if registered is None else registered.id)
        return self._reads.client(request)

    def _has_key(self, request: Request) -> bool:
        """Return whether a request has a key, or names a list in a mode that has secret paths."""
        return b"authorization" in request.received or (bool(request.list_name) and self.mode == "secret-path")


_VERSION = "/servers/{name:path}/versions/{version}"


@frozen
class RegistryHandlers:
    """Handlers of searches in the directory and of listings of the store. With `curated`, only of curated entries."""

    app = App(REGISTRY)

    _access: RegistryAccess
    _catalogue: Catalogue
    _curated: bool
    _offload: Offload

    # Some clients ask for {url}/servers, whatever the version.
    @app.get(*versioned("/servers"), "/servers", "/r/{token}/servers")
    async def servers(self, request: Request, token: str | None = None) -> bytes:
        client = await self._access.authenticate(request, token)
        parameters = serialization.registry_parameters(query(request))
        directory = self._catalogue.of(request)
        read = self._search(directory, parameters, client) if parameters.search else self._list(directory, parameters)
        versions, position = await read
        cursor = serialization.encode_registry_cursor(parameters, position) if position else None
        return await self._page(request, versions, cursor)

    @app.get(*versioned("/servers/{name:path}/versions"))
    async def versions(self, request: Request, name: str, token: str | None = None) -> bytes:
        await self._access.authenticate(request, token)
        name = _server_name(name)
        parameters, after = serialization.registry_version_parameters(query(request), name)
        versions_read = await self._catalogue.of(request).store.versions(name, after, parameters.limit + 1, PAGE_BYTES)
        page = versions_read[: parameters.limit]
        versions = [version for version in page if self._is_visible(version, parameters.include_deleted)]
        more = len(versions_read) > parameters.limit or _size(versions_read) >= PAGE_BYTES
        if not (versions or after or more):
            raise NotFound(f"Unknown server {name[:200]!r}.")
        cursor = serialization.encode_registry_cursor(parameters, (name, page[-1].version)) if more else None
        return await self._page(request, versions, cursor)

    @app.get(*versioned(_VERSION))
    async def version(self, request: Request, name: str, version: str, token: str | None = None) -> bytes:
        await self._access.authenticate(request, token)
        include_deleted = serialization.registry_look_up_parameters(query(request))
        name, version = _server_name(name), path_text(version)
        stored = await self._catalogue.of(request).store.version(name, version)
        if stored is None or not self._is_visible(stored, include_deleted):
            raise NotFound(f"Server {name[:200]!r} has no version {version[:100]!r}.")
        return await self._response(request, self._encoded(request, stored))

    @app.put(*versioned(_VERSION))
    @app.delete(*versioned(_VERSION))
    async def edit(self, request: Request, name: str, version: str, token: str | None = None) -> bytes:
        """Respond that versions are neither replaced nor deleted: the contract allows that with 501."""
        await self._access.authenticate(request, token)
        raise HttpError(501, "not_implemented", "A version cannot be changed. PATCH its status to withdraw it.")

    async def _page(self, request: Request, versions: Sequence[Version], cursor: str | None) -> bytes:
        body = serialization.registry_page([self._encoded(request, version) for version in versions], cursor)
        return await self._response(request, body)

    def _encoded(self, request: Request, version: Version) -> bytes:
        """Return a version as an item. What features add is of the latest version."""
        added = self._catalogue.of(request).registry_meta(version.name) if version.latest else {}
        return serialization.registry_entry(version, added)

    def _is_visible(self, version: Version, include_deleted: bool) -> bool:
        return (include_deleted or not version.deleted) and (version.curated or not self._curated)

    async def _list(self, directory: Directory, parameters: serialization.RegistryQuery) -> VersionPage:
        versions = await directory.store.listing(
            parameters.after or ("", ""),
            parameters.limit + 1,
            versions=parameters.version,
            updated_since=parameters.updated_since,
            include_deleted=parameters.include_deleted,
            curated=self._curated,
            most=PAGE_BYTES,
        )
        page = versions[: parameters.limit]
        more = len(versions) > parameters.limit or _size(versions) >= PAGE_BYTES
        return page, (page[-1].name, page[-1].version) if more else None

    async def _search(self, directory: Directory, parameters: serialization.RegistryQuery, client: str) -> VersionPage:
        """Return a page of search results, best first, with the requested or the latest version of each server.

        The hits of all FILTERED_PAGES are one search, and the store filters them before it reads documents.
        """
        version = "latest" if parameters.version == "all" else parameters.version
        limit, since = parameters.limit, parameters.updated_since or 0.0
        wanted = VersionFilter(version, limit, since, parameters.include_deleted, self._curated)
        hits = limit * FILTERED_PAGES if since or self._curated or version != "latest" else limit
        after = Position(*parameters.after) if parameters.after else None
        query = Query(parameters.search, hits, after, kinds="servers")
        versions, position = await directory.search_versions(query, PAGE_BYTES, ("registry", client), wanted)
        return versions, (position.score, position.name) if position else None

    async def _response(self, request: Request, body: bytes) -> bytes:
        headers, etag = {"Vary": "Accept-Encoding"}, entity_tag(body)
        if len(body) >= SMALLEST and accepts_gzip(request):
            etag = entity_tag(body, "-gzip")
            if not is_known(request, etag):
                headers["Content-Encoding"] = "gzip"
                body = gzip(body) if len(body) < LARGE else await self._offload(gzip, body)
        return conditional_response(
            request, body, f"{self._access.caching(request)}, max-age={MAX_AGE}", etag=etag, **headers
        )


def _size(versions: Sequence[Version]) -> int:
    return sum(len(version.body) for version in versions)


def path_text(part: str) -> str:
    """Return the name or version in a part of the path. Raises NotFound for one that no store can hold."""
    text = unquote(part)
    if "\0" in text:
        raise NotFound("No server has a name or version with a NUL.")
    return text


def _server_name(part: str) -> str:
    """Return the name of a server in a part of the path. Raises NotFound for one of an entry of another kind."""
    name = path_text(part)
    if kind_of(name) != SERVER:
        raise NotFound(f"Unknown server {name[:200]!r}.")
    return name


_SOFTWARE = {"version": __version__, "git_commit": "unknown", "build_time": "unknown"}
"""The body of /version. A build of the official registry that does not know the last two says the same."""


@frozen
class RegistryStatus:
    """Handlers of the three paths. `login_hint` says how to log in; it is empty if nobody can."""

    app = App(REGISTRY)

    _access: RegistryAccess
    _login_hint: str

    @app.get(*versioned("/ping"))
    async def ping(self, request: Request, token: str | None = None) -> bytes:
        await self._access.authenticate(request, token)
        return json_response(request, {"pong": True})

    @app.get(*versioned("/health"))
    async def health(self, request: Request, token: str | None = None) -> bytes:
        """Respond that the server works.

        `mcp-publisher login github` without a token reads /v0/health for a login with GitHub, which does not exist
        here. It prints the body of an error only, so there the response is one while publishers can log in.
        """
        if self._login_hint and request.path.startswith(b"/v0/"):
            raise NotFound(self._login_hint)
        await self._access.authenticate(request, token)
        return json_response(request, {"status": "ok"})

    @app.get(*versioned("/version"))
    async def version(self, request: Request, token: str | None = None) -> bytes:
        await self._access.authenticate(request, token)
        return json_response(request, _SOFTWARE)
