"""Filters of templates for entries: sanitized and bounded values, because entries may hold anything."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...domain.entries import Entry
from ...domain.licenses import LICENSES, OTHER, UNKNOWN
from ...domain.namespaces import GENERIC, name_parts
from ...domain.titles import display_title
from ...domain.views import Detail
from ...texts.sanitize import clean_line, shorten
from ._filters import link, plain

MAX_TAGS = 10
"""Maximum number of tags on the page."""

MAX_READ = 50
"""Tags, categories and tools of which they are chosen."""

PACKAGE_NAMES = {"npm": "npm", "pypi": "PyPI", "oci": "Docker", "nuget": "NuGet", "mcpb": "MCPB", "cargo": "Cargo"}
"""Display names of package types."""

MAX_LEAD = 600
"""Characters of a text that is not split into an introduction and the rest."""


_LICENSES = {
    **{"apache-2.0": "Apache-2.0", "unlicense": "Unlicense"},
    **{"bsd-2-clause": "BSD-2-Clause", "bsd-3-clause": "BSD-3-Clause"},
}
"""SPDX identifiers of licences whose identifier is not in capital letters."""

_NO_VERSION = "0.0.0"
"""The version that lists of servers give to entries without one."""


_PROTOCOL = GENERIC | {"servers", "model", "context", "protocol", "modelcontextprotocol"}
"""Words of tags that each entry could have."""


def license_name(text: str) -> str:
    """Return the SPDX identifier of a licence in the usual case, any other text unchanged."""
    known = text.casefold()
    return _LICENSES.get(known, known.upper()) if known in LICENSES and known != OTHER else text


def version_name(version: str, size: int) -> str:
    """Return a version of at most `size` characters, an empty text for the filler of entries without a version."""
    return "" if version == _NO_VERSION else plain(version, size)


def fact_marks(auth: str, runs: Iterable[str], *, installable: bool) -> Sequence[str]:
    """Return the keys of the texts about installation, a secret, and where a server runs, without unknown facts."""
    return [
        *(("installable",) if installable else ()),
        *((f"auth_{auth}",) if auth != UNKNOWN else ()),
        *(f"runs_{place}" for place in runs),
    ]


def package_name(kind: str) -> str:
    """Return the display name of a type of packages, which is the type itself for unknown ones."""
    return PACKAGE_NAMES.get(kind, kind)


def repository_url(detail: Detail) -> str:
    """Return the URL of the repository of an entry as a link, else an empty text."""
    return link((detail.repository or {}).get("url", ""))


def all_tags(entry: Entry | Detail) -> Sequence[str]:
    """Return the categories and tags of an entry, at most MAX_TAGS, the first of those that differ in case only.

    Tags that are words of the names of tools come last, and those that say that it is an MCP server are left out.
    """
    verbs = {word for tool in entry.tools[:MAX_READ] for word in name_parts(tool.name[:100].replace("_", " "))}
    tags = sorted(entry.tags[:MAX_READ], key=lambda tag: name_parts(tag[:100]) <= verbs)
    labels = dict[str, str]()
    for tag in (*entry.categories[:MAX_READ], *tags):
        if not name_parts(tag[:100]) <= _PROTOCOL:
            labels.setdefault(tag.casefold(), plain(tag, 40))
    return list(labels.values())[:MAX_TAGS]


def text(value: object) -> str:
    """Return a text of an entry, an empty one for another value."""
    return value if isinstance(value, str) else ""


def title_of(detail: Detail) -> str:
    """Return the title of an entry for people, its id if it has no readable name."""
    return plain(display_title(detail.title, detail.server_name), 100) or detail.mcp_id


def introduction(detail: Detail, language: str) -> tuple[str, str]:
    """Return what the server does, in a few sentences, and the text that continues or explains it.

    Many descriptions are the beginning of the long one, some cut by their source: then the long one is split.
    """
    brief = clean_line(detail.descriptions.get(language) or detail.brief, 400)
    long = plain(detail.long_description, 2_000)
    beginning = brief.rstrip("….").casefold()
    if not long or long.casefold() == brief.casefold():
        return brief, ""
    if not " ".join(long.split()).casefold().startswith(beginning):
        return brief, long
    if len(long) <= MAX_LEAD:
        return long, ""
    first = shorten(long.partition("\n")[0], MAX_LEAD // 2)
    return (first, long[len(first) :].strip()) if long.startswith(first) else ("", long)
