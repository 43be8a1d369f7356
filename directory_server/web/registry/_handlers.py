"""What the registry API answers (the official registry's OpenAPI, v0.1)."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import Any
from urllib.parse import unquote

from attrs import frozen

from ... import serialization
from ...domain.errors import NotFound
from ...domain.search import Position, Query
from ...domain.versions import Version
from ...http import Request
from ...http.errors import ErrorResponse
from ...http.headers import query, value
from ...services.directory import Directory
from ..responses import empty_response, json_response
from ._access import RegistryAccess

ROUNDS = 10
"""Pages of hits that are looked through, at most, for those that pass the filters of one search."""

PAGE_BYTES = 1_000_000
"""Bytes of entries after which a page ends, however few they are; 100 real ones have 93,000."""

FRESH = 60
"""Seconds for which an answer may be kept before it is asked for again."""

Found = tuple[Sequence[Version], tuple[Any, str] | None]
"""What a page holds, and the place behind it if there is more."""


def problem(refused: ErrorResponse) -> dict[str, Any]:
    """Return the body of a refusal (RFC 9457)."""
    return {"title": refused.code, "status": refused.status, "detail": refused.message}


@frozen
class RegistryHandlers:
    """Answers from `directory`, where `curated` of those entries alone that the operator stands by."""

    _entrance: RegistryAccess
    _directory: Directory
    _curated: bool

    async def servers(self, request: Request, token: str | None = None) -> bytes:
        """Answer a page of servers."""
        await self._entrance.authenticate(request, token)
        wanted = serialization.registry_parameters(query(request))
        versions, place = await (self._found(wanted) if wanted.search else self._listed(wanted))
        cursor = serialization.encode_registry_cursor(wanted, place) if place else None
        return self._send(
            request, serialization.registry_page([serialization.registry_entry(each) for each in versions], cursor)
        )

    async def versions(self, request: Request, name: str, token: str | None = None) -> bytes:
        """Answer a page of the versions of a server."""
        await self._entrance.authenticate(request, token)
        name = unquote(name)
        wanted, after = serialization.registry_version_parameters(query(request), name)
        found = await self._directory.versions(name, after, wanted.limit + 1, PAGE_BYTES)
        page = found[: wanted.limit]
        versions = [each for each in page if self._shows(each, wanted.include_deleted)]
        more = len(found) > wanted.limit or _size(found) >= PAGE_BYTES
        if not (versions or after or more):
            raise NotFound(f"No server is called {name[:200]!r}.")
        cursor = serialization.encode_registry_cursor(wanted, (name, page[-1].version)) if more else None
        return self._send(
            request, serialization.registry_page([serialization.registry_entry(each) for each in versions], cursor)
        )

    async def version(self, request: Request, name: str, version: str, token: str | None = None) -> bytes:
        """Answer one version of a server."""
        await self._entrance.authenticate(request, token)
        deleted = serialization.registry_parameters(query(request)).include_deleted
        name, version = unquote(name), unquote(version)
        found = await self._directory.version(name, version)
        if found is None or not self._shows(found, deleted):
            raise NotFound(f"No server is called {name[:200]!r} and has the version {version[:100]!r}.")
        return self._send(request, serialization.registry_entry(found))

    def _shows(self, version: Version, deleted: bool) -> bool:
        return (deleted or not version.deleted) and (version.curated or not self._curated)

    async def _listed(self, wanted: serialization.RegistryQuery) -> Found:
        versions = await self._directory.listing(
            wanted.place or ("", ""),
            wanted.limit + 1,
            versions=wanted.version,
            updated_since=wanted.updated_since,
            include_deleted=wanted.include_deleted,
            curated=self._curated,
            most=PAGE_BYTES,
        )
        page = versions[: wanted.limit]
        more = len(versions) > wanted.limit or _size(versions) >= PAGE_BYTES
        return page, (page[-1].name, page[-1].version) if more else None

    async def _found(self, wanted: serialization.RegistryQuery) -> Found:
        """Search, best first; of each server, its latest version, unless an exact one is asked for."""
        found: list[Version] = []
        place = Position(*wanted.place) if wanted.place else None
        for _ in range(ROUNDS):
            query = Query(wanted.search, wanted.limit - len(found), place)
            hits, place = await self._directory.search_versions(query, PAGE_BYTES - _size(found))
            for hit in hits:
                version = await self._of(hit, wanted)
                if version is not None:
                    found.append(version)
            if place is None or len(found) == wanted.limit or _size(found) >= PAGE_BYTES:
                break
        return found, (place.score, place.name) if place else None

    async def _of(self, hit: Version, wanted: serialization.RegistryQuery) -> Version | None:
        exact = wanted.version not in ("all", "latest")
        version = await self._directory.version(hit.name, wanted.version) if exact else hit
        if version is None or not self._shows(version, wanted.include_deleted):
            return None
        return version if version.updated_at >= (wanted.updated_since or 0) else None

    def _send(self, request: Request, body: bytes) -> bytes:
        tag = f'"{blake2b(body, digest_size=12).hexdigest()}"'
        shared = "public" if self._entrance.mode == "public" else "private"
        known = [each.strip().removeprefix("W/") for each in (value(request, "If-None-Match") or "").split(",")]
        sent = empty_response(request, 304) if tag in known or known == ["*"] else json_response(request, body)
        request.setHeader("ETag", tag)
        request.setHeader("Cache-Control", f"{shared}, max-age={FRESH}")
        return sent


def _size(versions: Sequence[Version]) -> int:
    return sum(len(each.body) for each in versions)
