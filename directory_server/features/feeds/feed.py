"""Atom feeds (RFC 4287) of new entries, and of the matches of a search."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from attrs import evolve, frozen

from ... import serialization
from ...domain.entries import mcp_id_of
from ...domain.versions import Version
from ...domain.withholding import shown_entry
from ...feature.server import Server
from ...http import Request
from ...services.directory import Directory
from ...web.forms import parameters
from ...web.pages import owner, plain, search_url, search_words
from ...web.responses import conditional_response
from ...web.routes import App

PATH = "/feed.atom"

ITEMS = 30
"""Entries of a feed."""

MAX_AGE = 300
"""Seconds for which a feed may be cached."""

MAX_TAGS = 10
"""Categories of an entry of a feed."""

HEADERS = {
    "Content-Type": "application/atom+xml; charset=utf-8",
    # A browser must not run anything in a feed that it shows as a document.
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "Referrer-Policy": "same-origin",
    "Vary": "Accept-Language, Cookie",
}


@frozen
class Item:
    """An entry of a feed, as sanitized text. Dates are those of this directory, which publishers cannot choose."""

    mcp_id: str
    name: str
    summary: str
    author: str
    tags: Sequence[str]
    published: str
    updated: str


@frozen
class Feeds:
    """Handles `/feed.atom`."""

    app = App()

    _server: Server

    @app.get("/feed.atom")
    async def get(self, request: Request) -> bytes:
        """Return the feed of the newest entries, or of the matches of `q`. Raises BadInput."""
        server = self._server
        viewer = await server.access.authenticate(request)
        keywords = search_words(parameters(request))
        directory = server.catalogue.of(request)
        versions = await directory.store.latest(await self._ids(directory, keywords))
        language = server.layout.translations(request).language
        items = await server.offload(_items, versions, language)
        values: dict[str, Any] = {
            "keywords": keywords,
            # The id of a feed never changes, also when the server moves (RFC 4287, section 4.2.6).
            "id": mcp_id_of(f"feed {keywords}"),
            "feed_url": feed_url(keywords),
            "search_url": search_url(keywords),
            "items": items,
            "updated": max((item.updated for item in items), default=serialization.rfc3339(0.0)),
        }
        body = server.layout.render(request, "feeds/feed.xml", values)
        scope = "public" if server.access.is_public and viewer is None else "private"
        return conditional_response(request, body, f"{scope}, max-age={MAX_AGE}", **HEADERS)

    async def _ids(self, directory: Directory, keywords: str) -> Sequence[str]:
        """Return the ids of the entries of a feed, in order."""
        if not keywords:
            return await directory.store.newest(ITEMS, lambda entry: entry.mcp_id)
        query = serialization.search_query(keywords, ITEMS).sorted_by("updated", self._server.now())
        # As on the page that links to the feed.
        return [hit.mcp_id for hit in (await directory.search(evolve(query, kinds="all"))).hits]


def feed_url(keywords: str) -> str:
    """Return the path and query of the feed for `keywords`."""
    return PATH + search_url(keywords).removeprefix("/")


def _items(versions: Sequence[Version], language: str) -> Sequence[Item]:
    return [_item(version, language) for version in versions]


def _item(version: Version, language: str) -> Item:
    entry, _ = shown_entry(serialization.restore_entry(version.body))
    tags = dict.fromkeys(plain(tag, 40) for tag in (*entry.categories, *entry.tags)[:MAX_TAGS])
    return Item(
        mcp_id=entry.mcp_id,
        name=plain(entry.title or entry.name, 100) or entry.mcp_id,
        summary=plain(entry.descriptions.get(language) or entry.brief, 300),
        author=plain(owner(entry.name), 60) or plain(entry.name, 60),
        tags=list(filter(None, tags)),
        published=serialization.rfc3339(min(version.published_at, version.updated_at)),
        updated=serialization.rfc3339(version.updated_at),
    )
