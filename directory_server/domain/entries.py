"""One MCP server as it was published, and what people are shown of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any
from uuid import UUID, uuid5

from attrs import field, frozen

from ..client_config import Installation, installations
from ..sanitize import Cleaner, clean_line
from .limits import BRIEF, LONG, NAME, SERVER, TOOLS, Shown, url

NAMESPACE = UUID("7d9a1a47-8c6b-42d7-96dd-0a8aa272d25a")
"""The published namespace of every `mcp_id`: `uuid5(NAMESPACE, server name)`."""

OFFICIAL = "io.modelcontextprotocol.registry/official"
"""The key of `_meta` under which the official registry keeps status and dates."""

PUBLISHER = "io.modelcontextprotocol.registry/publisher-provided"
"""The key of `server._meta` under which publishers keep what the schema has no field for."""

MAX_STARS = 10_000_000
"""Stars that a repository can have; no real one has a million. A publisher that states more is not believed."""


def mcp_id_of(name: str) -> str:
    """Return the id that every directory gives the server called `name` (RFC 9562, UUID version 5)."""
    return str(uuid5(NAMESPACE, name))


@frozen
class Tool:
    """A tool that an entry says it offers."""

    name: str
    description: str


@frozen
class Hit:
    """What a list shows of an entry: texts that are clean and within limits. Always strings."""

    mcp_id: str
    name: str
    brief: str
    website_url: str
    server_name: str = ""

    @property
    def size(self) -> int:
        """The bytes of its texts, and of what an encoded hit has around them."""
        texts = (self.name, self.brief, self.website_url, self.server_name)
        return 100 + sum(len(text) if text.isascii() else len(text.encode("utf-8", "replace")) for text in texts)


@frozen
class Detail:
    """All that is known of an entry, for one that asks about it alone.

    Fields that the entry does not state are empty or None; `install` is made from packages and remotes, and `server`
    is the document as published. Dates are RFC 3339 strings as the registry gave them. All texts are clean and within
    limits; `omitted` names the fields of which something is missing for that, `server` where it is empty for its size.
    """

    mcp_id: str
    name: str
    brief: str
    website_url: str
    server_name: str
    title: str
    version: str
    long_description: str
    descriptions: Mapping[str, str]
    tags: Sequence[str]
    categories: Sequence[str]
    tools: Sequence[Tool]
    repository: Mapping[str, Any] | None
    packages: Sequence[Mapping[str, Any]]
    remotes: Sequence[Mapping[str, Any]]
    install: Sequence[Installation]
    icons: Sequence[Mapping[str, Any]]
    license: str
    stars: int | None
    status: str
    official: bool
    published_at: str | None
    updated_at: str | None
    server: Mapping[str, Any]
    omitted: Sequence[str] = ()


@frozen
class Entry:
    """One MCP server: the official `server.json` document and the registry's `_meta`, both kept whole.

    Real documents hold values of unexpected types in optional places; the properties read what is usable and
    pass over the rest. `is_official` says that the official registry lists the entry, by the word of the operator or
    of a source that the operator trusts in this; anybody can write `_meta`.
    """

    server: Mapping[str, Any]
    meta: Mapping[str, Any] = field(factory=dict)
    is_official: bool = False

    @property
    def name(self) -> str:
        return str(self.server["name"])

    @property
    def version(self) -> str:
        return str(self.server["version"])

    @cached_property
    def mcp_id(self) -> str:
        return mcp_id_of(self.name)

    @property
    def title(self) -> str:
        return _text(self.server.get("title"))

    @property
    def brief(self) -> str:
        return _text(self.server.get("description"))

    @cached_property
    def official(self) -> Mapping[str, Any]:
        """Status and dates of the entry, as its source writes them under the key of the official registry."""
        return _mapping(self.meta.get(OFFICIAL))

    @cached_property
    def publisher(self) -> Mapping[str, Any]:
        """What the publisher adds beyond the schema."""
        return _mapping(_mapping(self.server.get("_meta")).get(PUBLISHER))

    @property
    def stars(self) -> int | None:
        """Stars of the repository as the publisher states them; None where that is not credible."""
        stars = self.publisher.get("stars")
        return stars if isinstance(stars, int) and not isinstance(stars, bool) and 0 <= stars <= MAX_STARS else None

    @property
    def long_description(self) -> str:
        return _text(self.publisher.get("longDescription"))

    @property
    def descriptions(self) -> dict[str, str]:
        """Descriptions by language tag (BCP 47)."""
        return {tag: text for tag, text in _mapping(self.publisher.get("descriptions")).items() if _text(text)}

    @property
    def tags(self) -> tuple[str, ...]:
        return _texts(self.publisher.get("tags"))

    @property
    def categories(self) -> tuple[str, ...]:
        return _texts(self.publisher.get("categories"))

    @property
    def tools(self) -> tuple[Tool, ...]:
        return tuple(
            Tool(_text(tool["name"]), _text(tool.get("description")))
            for tool in _mappings(self.publisher.get("tools"))
            if _text(tool.get("name"))
        )

    @property
    def packages(self) -> tuple[Mapping[str, Any], ...]:
        """Ways to run the server locally."""
        return _mappings(self.server.get("packages"))

    @property
    def remotes(self) -> tuple[Mapping[str, Any], ...]:
        """URLs at which the server is offered."""
        return _mappings(self.server.get("remotes"))

    @property
    def transports(self) -> tuple[str, ...]:
        """How the server is spoken to: `stdio`, `streamable-http` or `sse`, one for each package and remote."""
        offered = [*(_mapping(package.get("transport")) for package in self.packages), *self.remotes]
        return tuple(kind for each in offered if (kind := _text(each.get("type"))))

    def hit(self) -> Hit:
        """Return what a list shows of this entry."""
        repository = _mapping(self.server.get("repository"))
        server_name = clean_line(self.name, NAME)
        return Hit(
            mcp_id=self.mcp_id,
            name=clean_line(self.title, NAME) or server_name or self.mcp_id,
            brief=clean_line(self.brief, BRIEF),
            website_url=url(_text(self.server.get("websiteUrl"))) or url(_text(repository.get("url"))),
            server_name=server_name,
        )

    def detail(self) -> Detail:
        """Return all that is known of this entry."""
        cleaner = Cleaner(SERVER)
        try:
            document = cleaner.copy(self.server)
        except OverflowError:
            document = None
        shown = Shown(whole=document is not None)
        said = self if document is None else Entry(document, self.meta)
        hit, official = self.hit(), self.official
        # What is installed must be what was published, so it is left out rather than cleaned.
        install = installations(self.name, self.mcp_id, self.packages, self.remotes)
        if document is None or cleaner.changed:
            install = shown.safe("install", install)
        return Detail(
            mcp_id=hit.mcp_id,
            name=hit.name,
            brief=hit.brief,
            website_url=hit.website_url,
            server_name=hit.server_name,
            title=shown.line("title", said.title, NAME),
            version=shown.line("version", said.version),
            long_description=shown.text("long_description", said.long_description, LONG),
            descriptions=shown.texts("descriptions", said.descriptions),
            tags=shown.lines("tags", said.tags),
            categories=shown.lines("categories", said.categories),
            tools=tuple(
                Tool(shown.line("tools", tool.name, NAME), shown.said("tools", tool.description))
                for tool in shown.first("tools", said.tools, TOOLS)
            ),
            repository=next(iter(shown.objects("repository", [_mapping(said.server.get("repository"))])), None) or None,
            packages=shown.objects("packages", said.packages),
            remotes=shown.objects("remotes", said.remotes),
            install=install,
            icons=shown.objects("icons", _mappings(said.server.get("icons"))),
            license=shown.line("license", _text(said.publisher.get("license"))),
            stars=self.stars,
            status=shown.line("status", _text(official.get("status"))) or "active",
            official=self.is_official,
            published_at=shown.line("published_at", _text(official.get("publishedAt"))) or None,
            updated_at=shown.line("updated_at", _text(official.get("updatedAt"))) or None,
            server=document or {},
            omitted=(*shown.omitted, *(["server"] if document is None else [])),
        )


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _texts(value: object) -> tuple[str, ...]:
    return tuple(item for item in value if isinstance(item, str) and item) if isinstance(value, list) else ()


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _mappings(value: object) -> tuple[Mapping[str, Any], ...]:
    return tuple(item for item in value if isinstance(item, dict)) if isinstance(value, list) else ()
