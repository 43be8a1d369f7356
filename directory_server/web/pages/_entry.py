"""What the page of an entry shows: all that people want to know, in bounds, for entries may hold anything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import frozen

from ... import serialization
from ...client_config import Installation, Notice
from ...domain.entries import Detail, Entry, Tool
from ._cards import transports
from ._filters import caution, link, plain

TOOLS = 40
"""Tools that are shown."""

WAYS = 5
"""Packages that are shown, and as many remotes."""

INSTALLS = 2
"""Ways to install it that are shown."""

UNAVAILABLE = 4
"""Ways that cannot be used, of which the reason is shown."""

PASTED = 4_000
"""Characters of what is to be pasted; what is longer is in the detail record."""

WORDS = 20
"""Tags that are shown."""


@frozen
class Way:
    """A way to reach a server: the kind of package or remote, and its name or address, which may be a `url`.

    `caution` is why people should look twice at the host of its address.
    """

    kind: str
    name: str
    url: str
    caution: str


@frozen
class Pasted:
    """What to paste for one editor: its name, its file, and the text."""

    editor: str
    file: str
    text: str


@frozen
class Install:
    """How a package or remote of that name is installed, and what to know before; or why that is not possible."""

    name: str
    pasted: Sequence[Pasted]
    warnings: Sequence[Notice]
    reason: Notice | None


@frozen
class Shown:
    """An entry as text that can be shown; of what is too long, or too much, a part."""

    mcp_id: str
    name: str
    server_name: str
    version: str
    brief: str
    description: str
    tags: Sequence[str]
    official: bool
    transports: Sequence[str]
    status: str
    license: str
    stars: int | None
    website: str
    repository: str
    published: str
    updated: str
    tools: Sequence[Tool]
    more_tools: int
    packages: Sequence[Way]
    remotes: Sequence[Way]
    more_ways: int
    install: Sequence[Install]
    unpasted: Sequence[str]
    unavailable: Sequence[Install]


def shown(detail: Detail, language: str) -> Shown:
    """Return what the page in `language` shows of an entry."""
    repository = link((detail.repository or {}).get("url", ""))
    website = link(detail.website_url)
    brief = plain(detail.descriptions.get(language) or detail.brief, 400)
    description = plain(detail.long_description, 2_000)
    installs = [_install(each) for each in detail.install if not each.unavailable][:INSTALLS]
    unavailable = [_install(each) for each in detail.install if each.unavailable][:UNAVAILABLE]
    return Shown(
        mcp_id=detail.mcp_id,
        name=plain(detail.name, 100) or detail.mcp_id,
        server_name=plain(detail.server_name, 200),
        version=plain(detail.version, 60),
        brief=brief,
        description="" if description == brief else description,
        tags=list(dict.fromkeys(plain(tag, 40) for tag in (*detail.tags, *detail.categories)[:WORDS])),
        official=detail.official,
        transports=transports(Entry(detail.server).transports),
        status=plain(detail.status, 30),
        license=plain(detail.license, 60),
        stars=detail.stars,
        website="" if website == repository else website,
        repository=repository,
        published=plain(detail.published_at or "", 11)[:10],
        updated=plain(detail.updated_at or "", 11)[:10],
        tools=[Tool(plain(tool.name, 60), plain(tool.description, 140)) for tool in detail.tools[:TOOLS]],
        more_tools=max(0, len(detail.tools) - TOOLS),
        packages=[_package(each) for each in detail.packages[:WAYS]],
        remotes=[_remote(each) for each in detail.remotes[:WAYS]],
        more_ways=sum(max(0, len(ways) - WAYS) for ways in (detail.packages, detail.remotes)),
        install=[each for each in installs if each.pasted],
        unpasted=[each.name for each in installs if not each.pasted],
        unavailable=unavailable,
    )


def _install(way: Installation) -> Install:
    pasted = [Pasted(each.editor, each.file, serialization.pretty(each.config)) for each in way.configurations]
    short = [each for each in pasted if len(each.text) <= PASTED]
    return Install(plain(way.name, 100), short, way.warnings, way.unavailable)


def _package(package: Mapping[str, Any]) -> Way:
    name = plain(_text(package.get("identifier")), 150)
    version = plain(_text(package.get("version")), 40)
    url = link(package.get("identifier"))
    shown = plain(url, 150) if url else name
    return Way(plain(_text(package.get("registryType")), 20), f"{shown} {version}".strip(), url, caution(url))


def _remote(remote: Mapping[str, Any]) -> Way:
    # The address of a server is not a page for people, so it is no link.
    url = _text(remote.get("url"))
    return Way(plain(_text(remote.get("type")), 20), plain(link(url) or url, 300), "", caution(url))


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
