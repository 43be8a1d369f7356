"""Documents of ARD: catalog entries, server cards, and the manifest of this server.

Sources: ARD v0.91, sections 4 and 5; SEP-2127 and its schema `server-card.schema.json`, version 2.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ... import __version__
from ...domain.entries import Entry
from ...domain.facts import facts_of
from ...domain.kinds import SERVER
from ...domain.titles import display_title
from ...domain.views import ACTIVE, Detail
from ...serialization import OWN
from ...texts.sanitize import clean_line
from ...web.mcp import PATH as MCP_PATH
from ...web.mcp import SERVER_INFO, STATEFUL_VERSIONS, STATELESS_VERSIONS, TOOL_NAMES
from ...web.pages import link
from .names import domain_of, host_name, urn
from .requests import BASE_CONTEXT, CARD_TYPE

BASE = "/api/ard/v1"
"""The path of the registry."""

CARDS = f"{BASE}/cards"
"""The path of the server cards of entries."""

MANIFEST, FORMER_MANIFEST = "/.well-known/ard.json", "/.well-known/ai-catalog.json"
"""The path of the manifest, and that of ARD v0.9, which most clients read."""

OWN_CARD = f"{MCP_PATH.decode()}/server-card"
"""The path of the card of this server's MCP endpoint (SEP-2127)."""

CARD_SCHEMA = "https://static.modelcontextprotocol.io/schemas/v2/server-card.schema.json"

REGISTRY_TYPE = "application/ai-registry+json"

MAX_LABELS, MAX_LABEL = 32, 100
"""Tags and capabilities of an entry, and characters of each. VS Code rejects a page with more."""

MAX_QUERIES, MAX_QUERY = 5, 500
"""Representative queries of an entry, and characters of each."""

TITLE, DESCRIPTION = 100, 100
"""Characters of the title and of the description of a card."""

_CARD_NAME = re.compile(r"[A-Za-z0-9.-]+/[A-Za-z0-9._-]+")
_REMOTE_URL = re.compile(r"(https?://[^\s]+|\{[A-Za-z_][A-Za-z0-9_]*\}[^\s]*)")
_DATE = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d.*)?")

_INPUT = {
    "choices": list,
    "default": str,
    "description": str,
    "isRequired": bool,
    "isSecret": bool,
    "placeholder": str,
    "value": str,
}
_HEADER = {**_INPUT, "name": str}

DESCRIPTION_OF_SERVER = "Searches a directory of MCP servers and tells how to install each of them."

QUERIES = ("find an MCP server for a task", "which MCP server can read a PostgreSQL database")
"""Representative queries of this server, as a registry and as an MCP endpoint."""


def catalog_entry(entry: Entry, base_url: str, summary_of: Callable[[Entry], Detail]) -> dict[str, Any]:
    """Return an entry as a catalog entry of ARD, with the URL of its card: of servers at `base_url`.

    `summary_of` returns the detail of an entry.
    """
    detail, facts = summary_of(entry), facts_of(entry)
    card = entry.card
    metadata = {
        "mcpId": detail.mcp_id,
        "serverName": detail.server_name,
        "version": detail.version,
        "auth": detail.auth,
        "runs": list(detail.runs),
        "transport": sorted({kind.removeprefix("streamable-") for kind in entry.transports[:MAX_LABELS]}),
        "package": _labels(str(package.get("registryType", "")) for package in entry.packages[:MAX_LABELS]),
        "language": list(facts.languages),
        "license": facts.license,
        "stars": detail.stars,
        "installable": detail.installable,
        "verified": str(detail.verified),
        "publisher": detail.publisher,
        "flag": list(detail.flags),
        "tools": [] if detail.verification is None else list(detail.verification.tool_hints),
        "status": detail.status if detail.status != ACTIVE else None,
        "statusMessage": detail.status_message,
        "websiteUrl": detail.website_url,
    }
    found: dict[str, Any] = {
        "identifier": urn(detail.server_name, host_name(base_url)),
        "displayName": clean_line(display_title(detail.title, detail.server_name), TITLE) or detail.mcp_id,
        "type": CARD_TYPE if entry.kind == SERVER else card.type,
        "url": (entry.kind != SERVER and link(card.url)) or f"{base_url}{CARDS}/{detail.mcp_id}",
        "description": detail.summary,
        "tags": _labels((*detail.categories, *detail.tags)),
        "capabilities": _labels(tool.name for tool in detail.tools),
        "version": detail.version,
        "updatedAt": detail.updated_at if detail.updated_at and _DATE.fullmatch(detail.updated_at) else "",
        "metadata": {
            # The schema of catalogs allows no arrays here.
            name: ", ".join(value) if isinstance(value, list) else value
            for name, value in metadata.items()
            if value not in (None, "", [])
        },
    }
    return {name: value for name, value in found.items() if value not in ("", [])}


def complete_entry(entry: Entry, base_url: str, summary_of: Callable[[Entry], Detail]) -> dict[str, Any]:
    """Return an entry with all of its terms, as a node that tools of JSON-LD can read (ARD v0.91, section 4.1)."""
    queries = entry.publisher.get("representativeQueries")
    texts = [text for text in queries if isinstance(text, str)] if isinstance(queries, list) else []
    return {
        "@context": BASE_CONTEXT,
        **catalog_entry(entry, base_url, summary_of),
        **({"representativeQueries": shown} if (shown := _labels(texts, MAX_QUERY)[:MAX_QUERIES]) else {}),
    }


def server_card(detail: Detail, base_url: str) -> dict[str, Any]:
    """Return the server card of an entry, from its full view.

    Packages are not part of cards; `_meta` has the URL of the server.json in the registry API.
    """
    card: dict[str, Any] = {
        "$schema": CARD_SCHEMA,
        "name": _card_name(detail.server_name, host_name(base_url)),
        "version": detail.version[:255] or "0.0.0",
        "title": clean_line(display_title(detail.title, detail.server_name), TITLE),
        "description": clean_line(detail.brief, DESCRIPTION) or clean_line(detail.name, DESCRIPTION),
        "websiteUrl": link(detail.website_url),
        "repository": _repository(detail.repository),
        "remotes": [remote for declared in detail.remotes if (remote := _remote(declared))],
        "_meta": {OWN: {"mcpId": detail.mcp_id, "entry": f"{base_url}/api/open/v1/entries/{detail.mcp_id}"}},
    }
    return {name: value for name, value in card.items() if value}


def own_card(base_url: str) -> dict[str, Any]:
    """Return the card of this server's MCP endpoint."""
    host = host_name(base_url)
    return {
        "$schema": CARD_SCHEMA,
        "name": f"{domain_of(host)}/mcp-directory",
        "version": __version__,
        "title": SERVER_INFO["title"],
        "description": DESCRIPTION_OF_SERVER,
        "websiteUrl": base_url,
        "remotes": [
            {
                "type": "streamable-http",
                "url": base_url + MCP_PATH.decode(),
                "headers": [
                    {
                        "name": "Authorization",
                        "description": "Your API key, after the word Bearer.",
                        "value": "Bearer {key}",
                        "isRequired": True,
                        "isSecret": True,
                        "variables": {
                            "key": {"description": "Your API key.", "isRequired": True, "isSecret": True},
                        },
                    }
                ],
                "supportedProtocolVersions": [*STATEFUL_VERSIONS, *STATELESS_VERSIONS],
            }
        ],
    }


def manifest(base_url: str, listed: Sequence[dict[str, Any]] = ()) -> dict[str, Any]:
    """Return the manifest of this server: its registry, MCP endpoint and `listed` entries (ARD v0.91, section 5.1)."""
    host = host_name(base_url)
    return {
        "specVersion": "1.0",
        "host": {"displayName": SERVER_INFO["title"], "documentationUrl": f"{base_url}/docs"},
        "entries": [
            {
                "identifier": f"urn:air:{host}:registry:mcp-directory",
                "displayName": SERVER_INFO["title"],
                "type": REGISTRY_TYPE,
                "url": f"{base_url}{BASE}/",
                "description": "Registry of MCP servers: search, facets and a list.",
                "tags": ["registry", "search", "mcp"],
                "representativeQueries": list(QUERIES),
            },
            _own_entry(base_url, host),
            *listed,
        ],
    }


def mcp_catalog(base_url: str) -> dict[str, Any]:
    """Return the catalog of this server's MCP endpoints, which is older than the manifest (SEP-2127, discovery)."""
    entry = _own_entry(base_url, host_name(base_url))
    return {
        "specVersion": "draft",
        "entries": [{name: entry[name] for name in ("identifier", "displayName", "type", "url")}],
    }


def referral(url: str) -> dict[str, str]:
    """Return the referral to another registry."""
    host = host_name(url)
    return {
        "identifier": f"urn:air:{host}:registry",
        "displayName": host,
        "type": REGISTRY_TYPE,
        "url": url,
    }


def _own_entry(base_url: str, host: str) -> dict[str, Any]:
    return {
        "identifier": f"urn:air:{host}:mcp-directory",
        "displayName": f"{SERVER_INFO['title']} (MCP endpoint)",
        "type": CARD_TYPE,
        "url": f"{base_url}{OWN_CARD}",
        "description": DESCRIPTION_OF_SERVER,
        "capabilities": list(TOOL_NAMES),
        "representativeQueries": list(QUERIES),
        "version": __version__,
    }


def _labels(texts: Iterable[str], length: int = MAX_LABEL) -> list[str]:
    """Return the first different texts of at most `length` characters."""
    found = (clean_line(text, length) for text in texts if len(text) <= length)
    return [label for label, _ in zip(dict.fromkeys(filter(None, found)), range(MAX_LABELS), strict=False)]


def _card_name(name: str, host: str) -> str:
    """Return a name as cards have it: a namespace, one slash and a part. Other characters become hyphens."""
    namespace, _, short = name.partition("/")
    if not short:
        namespace, short = domain_of(host), namespace
    safe = f"{re.sub(r'[^A-Za-z0-9.-]', '-', namespace)}/{re.sub(r'[^A-Za-z0-9._-]', '-', short)}"[:200]
    return safe if _CARD_NAME.fullmatch(safe) else f"{domain_of(host)}/entry"


def _repository(repository: Mapping[str, Any] | None) -> dict[str, str]:
    texts = {
        name: value
        for name in ("url", "source", "id", "subfolder")
        if isinstance(value := (repository or {}).get(name), str) and value
    }
    return texts if {"url", "source"} <= texts.keys() else {}


def _remote(remote: Mapping[str, Any]) -> dict[str, Any]:
    """Return a remote with the members that cards allow; empty if it cannot be one."""
    kind, url = remote.get("type"), remote.get("url")
    if kind not in ("streamable-http", "sse") or not isinstance(url, str) or not _REMOTE_URL.fullmatch(url):
        return {}
    headers = [
        {**_typed(header, _HEADER), **_variables(header)}
        for header in _mappings(remote.get("headers"))
        if isinstance(header.get("name"), str)
    ]
    return {"type": kind, "url": url, **({"headers": headers} if headers else {}), **_variables(remote)}


def _variables(owner: Mapping[str, Any]) -> dict[str, Any]:
    variables = owner.get("variables")
    if not isinstance(variables, dict):
        return {}
    found = {name: _typed(each, _INPUT) for name, each in variables.items() if isinstance(each, dict)}
    return {"variables": found} if found else {}


def _typed(value: Mapping[str, Any], types: Mapping[str, type]) -> dict[str, Any]:
    found = {name: value[name] for name, kind in types.items() if isinstance(value.get(name), kind)}
    if not all(isinstance(choice, str) for choice in found.get("choices", ())):
        del found["choices"]
    return found


def _mappings(value: Any) -> Sequence[Mapping[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
