"""The page of an entry."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any
from urllib.parse import quote

from attrs import define, field, frozen

from ... import serialization
from ...client_config import install_options
from ...domain.entries import Entry
from ...domain.kinds import SERVER
from ...domain.ports.points import Point, Points
from ...domain.scopes import Scope
from ...domain.search import Kinds, Query, no_likeness
from ...domain.tools import Parameter, parameters_of
from ...domain.versions import Version
from ...domain.views import Detail, Hit, Tool
from ...http import Request
from ...services.catalogue import Catalogue
from ...services.directory import Directory
from ..responses import conditional_response
from ..routes import App
from ._access import PageAccess
from ._additions import ENTRY_BARS, ENTRY_PARTS, read_bars
from ._entries import all_tags, fact_marks
from ._install import chosen_editor
from ._layout import Address, Layout
from ._readme import Readmes

MAX_TOOLS = 40
"""Maximum number of tools on the page."""

MAX_PARAMETERS = 12
"""Maximum number of parameters of a tool on the page."""

MAX_ALL_PARAMETERS = 120
"""Maximum number of parameters on the page."""


def tools_of(entry: Entry) -> tuple[Sequence[tuple[Tool, Sequence[Parameter], int]], int]:
    """Return the tools on the page with their parameters, and the number of those that are left out.

    The number after the parameters is that of the ones left out. Texts are those of the publisher.
    """
    left = MAX_ALL_PARAMETERS
    shown = []
    tools = entry.tools
    schemas = _schemas(entry)
    for tool in tools[:MAX_TOOLS]:
        schema = next(schemas)
        parameters = list(islice(parameters_of(schema), min(left, MAX_PARAMETERS)))
        left -= len(parameters)
        shown.append((tool, parameters, len(_mapping(schema.get("properties"))) - len(parameters)))
    return shown, max(0, len(tools) - MAX_TOOLS)


def _schemas(entry: Entry) -> Iterator[Mapping[str, Any]]:
    """Yield the input schema of each tool, in the order of `entry.tools`; an empty one if there is none."""
    tools = entry.publisher.get("tools")
    for tool in tools if isinstance(tools, list) else []:
        if isinstance(tool, dict) and isinstance(tool.get("name"), str) and tool["name"]:
            yield _mapping(tool.get("inputSchema") or tool.get("input_schema"))


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


MAX_TARGETS = 5
"""Maximum number of packages, and of remotes, on the page."""

MAX_MORE_TOOLS = 100
"""Tools of which the page has only the names."""

MAX_VERSIONS = 10
"""Versions on the page."""

VERSIONS_BYTES = 500_000
"""Bytes of versions that are read for their dates."""

MAX_SIMILAR = 5
"""Similar servers on the page."""

MIN_LIKENESS = 0.5
"""The share of the words of an entry that a similar one has."""

CACHED = 500
"""Entries whose similar servers are kept. They are read for several milliseconds."""

SIMILAR_WORDS = 6
"""Words of an entry that find similar ones."""


@frozen
class EntryLink:
    """A link on an entry's page, which robots do not follow: a path below that of the entry, and its text's key."""

    path: str
    text: str


ENTRY_LINKS = Point[EntryLink]()
"""Links on the page of an entry."""


@define
class SimilarServers:
    """Finds similar servers, and keeps those of the last CACHED entries until `_generation` of the index changes."""

    _generation: Callable[[], int]
    _found_at: int = field(default=-1, init=False)
    _found: dict[tuple[Scope, str], Sequence[Hit]] = field(factory=dict, init=False)

    async def of(self, directory: Directory, scope: Scope, entry: Entry) -> Sequence[Hit]:
        generation, key = self._generation(), (scope, entry.mcp_id)
        if self._found_at != generation:
            self._found.clear()
            self._found_at = generation
        if key in self._found:
            return self._found[key]
        similar = await _find_similar(directory, entry)
        if self._found_at == generation:
            self._found[key] = similar
            if len(self._found) > CACHED:
                del self._found[next(iter(self._found))]
        return similar


@frozen
class EntryPage:
    """Handles `/servers/{mcp_id}`."""

    app = App()

    _layout: Layout
    _access: PageAccess
    _catalogue: Catalogue
    _readmes: Readmes
    _points: Points
    _has_open_registry: bool
    _similar: SimilarServers
    _now: Callable[[], float]

    @app.get("/servers/{mcp_id}")
    async def get(self, request: Request, mcp_id: str) -> bytes:
        viewer = await self._access.authenticate(request)
        directory = self._catalogue.of(request)
        entry = await directory.open(serialization.entry_id(mcp_id), viewer.id if viewer else "")
        tools, more_tools = tools_of(entry)
        names = [tool.name for tool in entry.tools]
        editor = chosen_editor(request)
        options = install_options(entry.name, entry.mcp_id, entry.packages, entry.remotes, names, [editor])
        detail = await directory.detail_of(entry)
        values = {
            "entry": detail,
            "source": entry,
            "users": directory.users().get(entry.mcp_id, 0),
            "marks": fact_marks(detail.auth, detail.runs, installable=False),
            "max_targets": MAX_TARGETS,
            "now": self._now(),
            "sections": await self._sections(detail),
            "editor": editor,
            "ways": [option for option in options if option.setups],
            "unavailable": [option for option in options if not option.setups],
            "tools": tools,
            "more_tools": more_tools,
            "max_more_tools": MAX_MORE_TOOLS,
            "readme": await self._readmes.html(entry.readme),
            "versions": await _versions(directory, entry),
            "similar": await self._similar.of(directory, self._catalogue.scope_of(request), entry),
            "links_of_features": self._points.all(ENTRY_LINKS),
            "json_url": self._json_url(entry),
            "card_url": f"/servers/{entry.mcp_id}/card" if entry.card.data is not None else "",
            "bars": await read_bars(self._points.all(ENTRY_BARS), request, viewer, entry.name),
        }
        address = Address(f"/servers/{entry.mcp_id}", self._access.is_public)
        return self._layout.page(request, "entry.html", values, account=viewer, address=address)

    @app.get("/servers/{mcp_id}/card")
    async def card(self, request: Request, mcp_id: str) -> bytes:
        """Return the card of an entry as a file, of a server the server.json. Raises NotFound."""
        await self._access.authenticate(request)
        directory = self._catalogue.of(request)
        detail = await directory.detail_of(await directory.entry(serialization.entry_id(mcp_id)))
        body, media_type = serialization.card_body(detail)
        name = "SKILL.md" if detail.kind == "skill" else f"{detail.kind}.json"
        headers = {"Content-Type": media_type, "Content-Disposition": f'attachment; filename="{name}"'}
        return conditional_response(request, body, "private, no-cache", **headers)

    def _json_url(self, entry: Entry) -> str:
        """Return the URL of the entry in the registry API if everybody may read that, else in the REST API."""
        if self._has_open_registry and entry.kind == SERVER:
            return f"/v0.1/servers/{quote(entry.name, safe='')}/versions/latest"
        return f"/api/open/v1/entries/{entry.mcp_id}"

    async def _sections(self, detail: Detail) -> Sequence[tuple[str, object]]:
        """Return the sections of features: their templates and values."""
        sections = [(part.section_template, await part.section(detail)) for part in self._points.all(ENTRY_PARTS)]
        return [(template, values) for template, values in sections if values is not None]


async def _versions(directory: Directory, entry: Entry) -> Sequence[Version]:
    """Return the last versions, none if there is only one."""
    versions = await directory.store.versions(entry.name, limit=MAX_VERSIONS, most=VERSIONS_BYTES)
    remaining = [version for version in versions if not version.deleted]
    return remaining if len(remaining) > 1 else []


async def _find_similar(directory: Directory, entry: Entry) -> Sequence[Hit]:
    """Return the entries that the words of this one find, itself left out."""
    words = similar_words(entry)
    if not words:
        return []
    kinds: Kinds = "servers" if entry.kind == SERVER else "all"
    page = await directory.search(Query(words, 2 * MAX_SIMILAR, likeness=no_likeness, kinds=kinds))
    hits = {hit.mcp_id: hit for hit in page.hits if hit.mcp_id != entry.mcp_id}
    candidates = await directory.store.entries(list(hits))
    similar = [hits[other.mcp_id] for other in candidates if likeness(words, other) >= MIN_LIKENESS]
    return similar[:MAX_SIMILAR]


def similar_words(entry: Entry) -> str:
    """Return a query for entries like this one: words of its name, tags and categories. None of them is a filter."""
    name = entry.title or entry.name.rpartition("/")[2]
    texts = [name, *all_tags(entry)]
    words = (word.lower() for text in texts for word in _words(text[:100]))
    return " ".join([word for word in dict.fromkeys(words) if word not in _EMPTY][:SIMILAR_WORDS])


def likeness(words: str, other: Entry) -> float:
    """Return the share of `words` that an entry has in its name, description, tags and categories."""
    texts = (other.title, other.name.rpartition("/")[2], other.summary, *other.tags[:20], *other.categories[:5])
    own = {word.lower() for text in texts for word in _words(text[:300])}
    return sum(word in own for word in words.split()) / len(words.split())


_EMPTY = frozenset({"mcp", "server", "servers", "the", "for", "and", "of", "a", "an", "to", "with", "by", "in", "on"})
"""Words that say nothing about an entry."""


def _words(text: str) -> Sequence[str]:
    """Return the words of a text. Quotes, colons and hyphens, which have a meaning in queries, separate them."""
    return [word[:30] for word in "".join(character if character.isalnum() else " " for character in text).split()]
