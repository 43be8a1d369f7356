"""Documents of a catalog: manifests of ARD, their entries, and cards of them. All of them are hostile.

Sources: ARD v0.91, sections 4 and 5.1; SEP-2127 for the cards.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from hashlib import blake2b
from typing import Any, Literal

from attrs import frozen

from ..domain.entries import OFFICIAL, PUBLISHER, Entry
from ..domain.errors import BadInput
from ..domain.kinds import KINDS, SERVER, SERVER_TYPES, TYPES, Card
from ..domain.tools import line_of
from ..http_client import robots_fields
from ..serialization import (
    CLAIMED,
    DATE,
    UNKNOWN_VERSION,
    URN,
    card_document,
    card_server,
    catalog_name,
    decode,
    decode_entry,
    encode,
    first_text,
    reversed_domain,
)
from ._page import MAX_ELEMENTS
from ._upstream import UpstreamFailed

MAX_ITEMS = 10_000
"""Entries of a catalog that are read; a longer one is rejected."""

MAX_KIND = 60
"""Characters of a media type in reports."""

MAX_MAPS = 5
"""Manifests that a robots.txt, or links of a page, can name."""

MAX_HTML, MAX_SCRIPTS = 262_144, 20
"""Bytes of a page in which links to manifests and entries are looked for, and scripts with entries in it."""

RELATION, FORMER_RELATION = b"ard", b"ai-catalog"
"""The relation of links to manifests, and that of ARD v0.9."""

CATALOG_TYPES = frozenset({"application/ai-catalog+json"})

_COPIED = ("websiteUrl", "repository", "icons", "remotes", "packages")
"""Members of a card that a server.json has as well."""

_NAME = re.compile(r"([A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+)/[A-Za-z0-9._-]+")
_MEDIA_TYPE = re.compile(r"[a-z0-9][a-z0-9!#$&^_.+-]*/[a-z0-9][a-z0-9!#$&^_.+-]*")
"""A media type in lower case (RFC 6838, section 4.2)."""

_SCRIPT = re.compile(rb"""<script\b[^<>]{0,99}\btype=["']?application/ld\+json["']?[^<>]{0,99}>""", re.IGNORECASE)
_END_OF_SCRIPT = re.compile(rb"</script", re.IGNORECASE)
_LINK = re.compile(rb"<link\b([^<>]{0,2000})>", re.IGNORECASE)
_ATTRIBUTE = re.compile(rb"""\b(rel|href)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""", re.IGNORECASE)
_LEGACY_TRANSPORTS = {"streamable-http": "streamable-http", "http": "streamable-http", "sse": "sse"}


@frozen
class Item:
    """An entry of a catalog with its media type: the card of an entry, a catalog, or another `kind`.

    `entry_kind` is that of the entry with the card. `publisher` is the domain in the identifier, in lower case. Its
    content is at `url`, or is `data`. `digest` is of all `fields`.
    """

    identifier: str
    publisher: str
    kind: Literal["card", "catalog", "other"]
    type: str
    url: str
    data: Any
    fields: Mapping[str, Any]
    digest: bytes
    entry_kind: str = SERVER

    def is_read(self, url: str) -> bool:
        """Return whether the document at the URL of the card describes the entry."""
        return self.entry_kind == SERVER or KINDS[self.entry_kind].is_read(url)


@frozen
class Catalog:
    """The valid entries of a catalog, and the reasons why the others were rejected."""

    items: tuple[Item, ...]
    rejected: tuple[str, ...]


def read_catalog(body: bytes) -> Catalog:
    """Return the catalog in `body`. Raises UpstreamFailed if it is none, or exceeds a bound."""
    return catalog_of(_decoded(body))


def catalog_of(value: Any) -> Catalog:
    """Return the catalog `value`. Raises UpstreamFailed."""
    entries = value.get("entries") if isinstance(value, dict) else None
    if not isinstance(entries, list):
        raise UpstreamFailed("It did not send a manifest: an object with a list of entries in 'entries'.")
    if len(entries) > MAX_ITEMS:
        raise UpstreamFailed(f"It sent a manifest of more than {MAX_ITEMS:,} entries.")
    items, rejected = [], []
    for number, entry in enumerate(entries, 1):
        try:
            items.append(_item(entry))
        except BadInput as error:
            name = line_of(entry.get("identifier"), 100) if isinstance(entry, dict) else ""
            rejected.append(f"{name or f'entry {number} of a manifest'}: {error.message}")
    return Catalog(tuple(items), tuple(rejected))


def _item(value: Any) -> Item:
    if not isinstance(value, dict):
        raise BadInput("must be an object.")
    # Manifests of the first drafts have mediaType.
    media_type = line_of(value.get("type", value.get("mediaType")), MAX_KIND).partition(";")[0].strip().lower()
    kind: Literal["card", "catalog", "other"] = "other"
    entry_kind = TYPES[media_type][0].name if media_type in TYPES else SERVER
    if media_type in SERVER_TYPES or media_type in TYPES:
        kind = "card"
    elif media_type in CATALOG_TYPES:
        kind = "catalog"
    identifier, url, data = value.get("identifier"), value.get("url"), value.get("data")
    match = URN.fullmatch(identifier) if isinstance(identifier, str) else None
    if kind == "card" and match is None:
        raise BadInput("identifier: must be urn:air:, a domain, and one or more parts with colons between them.")
    has_url, has_data = isinstance(url, str) and url and data is None, isinstance(data, dict | str) and url is None
    if kind != "other" and not (has_url or has_data):
        raise BadInput("must have either url, a string, or data, an object.")
    digest = blake2b(encode(value), digest_size=16).digest()
    name, publisher = (f"urn:air:{match[1]}{match[2]}", match[1].lower()) if match else ("", "")
    return Item(
        name,
        publisher,
        kind,
        media_type if _MEDIA_TYPE.fullmatch(media_type) else "no type",
        url or "",
        data,
        value,
        digest,
        entry_kind,
    )


def read_card(item: Item, body: bytes, speaks_for: Callable[[str], bool], url: str) -> Entry:
    """Return the entry of `item`, whose card at `url` is `body`. Raises BadInput."""
    try:
        is_text = item.entry_kind != SERVER and KINDS[item.entry_kind].is_text
        value = body.decode() if is_text else _decoded(body)
    except (UpstreamFailed, UnicodeDecodeError) as error:
        raise BadInput(error.message if isinstance(error, UpstreamFailed) else "its card is not UTF-8.") from None
    return card_entry(item, value, speaks_for, url)


def card_entry(item: Item, card: Any, speaks_for: Callable[[str], bool], url: str = "") -> Entry:
    """Return the entry of `item` with the decoded `card`. `speaks_for` says of a domain if the catalog may use it.

    The name of a server is that of the card if it is in the namespace of such a domain, which is that of the
    identifier, above or below it. Else it comes from the identifier. An entry of another kind may have a card of None,
    and its `url` only. Raises BadInput.
    """
    if item.entry_kind != SERVER:
        return _other_entry(item, card, url)
    if not isinstance(card, dict):
        raise BadInput("its card must be an object.")
    fields = item.fields
    publisher = {name: fields[name] for name in CLAIMED if isinstance(fields.get(name), list)}
    if isinstance(card.get("tools"), list):
        publisher["tools"] = card["tools"]
    server = {
        "name": _name_of(item, card, speaks_for),
        "version": first_text(card.get("version"), fields.get("version"), UNKNOWN_VERSION),
        "title": first_text(card.get("title"), fields.get("displayName")),
        "description": first_text(card.get("description"), fields.get("description"), fields.get("displayName")),
        **{name: card[name] for name in _COPIED if name in card},
        **({"_meta": {PUBLISHER: publisher}} if publisher else {}),
    }
    if "remotes" not in server and (remote := _legacy_remote(card)):
        server["remotes"] = [remote]
    updated = fields.get("updatedAt")
    dates = {"updatedAt": updated} if isinstance(updated, str) and DATE.fullmatch(updated) else {}
    return decode_entry({"server": server, "_meta": {OFFICIAL: dates} if dates else {}})


def _other_entry(item: Item, document: Any, url: str) -> Entry:
    kind, media_type = TYPES[item.type]
    if document is None and not (url and first_text(item.fields.get("displayName"))):
        raise BadInput("its URL is invalid, or it has no displayName.")
    card = Card(media_type, url, None if document is None else card_document(kind, document))
    return decode_entry(card_server(item.fields, _catalog_name(item), card))


def _name_of(item: Item, card: Mapping[str, Any], speaks_for: Callable[[str], bool]) -> str:
    name = card.get("name")
    if isinstance(name, str) and (match := _NAME.fullmatch(name)):
        domain = reversed_domain(match[1]).lower()
        is_related = is_within(domain, item.publisher) or is_within(item.publisher, domain)
        if is_related and speaks_for(domain):
            return name
    return _catalog_name(item)


def _catalog_name(item: Item) -> str:
    *_, parts = item.identifier.split(":", 3)
    return catalog_name(item.publisher, parts, item.entry_kind)


def _legacy_remote(card: Mapping[str, Any]) -> Mapping[str, str]:
    """Return the remote of a card from before SEP-2127, which has a URL and a transport at its top."""
    url, transport = card.get("url"), card.get("transport")
    kind = _LEGACY_TRANSPORTS.get(transport) if isinstance(transport, str) else None
    return {"type": kind, "url": url} if kind and isinstance(url, str) else {}


def _decoded(body: bytes) -> Any:
    # Checked before decoding: a value has two bytes of JSON and takes sixty of memory.
    if sum(map(body.count, (b",", b"[", b"{"))) > MAX_ELEMENTS:
        raise UpstreamFailed(f"It sent a document of more than {MAX_ELEMENTS:,} JSON values.")
    try:
        return decode(body)
    except BadInput as error:
        raise UpstreamFailed(f"It sent invalid JSON: {error.message}") from None


def is_within(domain: str, owner: str) -> bool:
    """Return whether `domain` is `owner` or below it."""
    return domain == owner or domain.endswith(f".{owner}")


def agent_maps(robots: bytes) -> list[str]:
    """Return the manifests that a robots.txt names (ARD v0.91, section 5.1)."""
    return _first(value for name, value in robots_fields(robots) if name == "agentmap" and value)


def catalog_links(html: bytes, relation: bytes) -> list[str]:
    """Return the links to manifests in the beginning of a page: `<link rel="ard" href="…">`."""
    return _first(_hrefs(html[:MAX_HTML], relation))


def markup_manifest(html: bytes) -> bytes:
    """Return a manifest of the entries in the JSON-LD of a page (ARD v0.91, section 5.1); nothing if it has none."""
    entries: list[Any] = []
    # The last piece has no end. A script cannot contain its end, so each piece has one at most.
    pieces = _END_OF_SCRIPT.split(html[:MAX_HTML])[:-1]
    scripts = (piece[tag.end() :] for piece in pieces if (tag := _SCRIPT.search(piece)))
    for script, _ in zip(scripts, range(MAX_SCRIPTS), strict=False):
        try:
            value = _decoded(script)
        except UpstreamFailed:
            continue
        nodes = value if isinstance(value, list) else [value]
        for node in nodes:
            inner = (node.get("entries") or node.get("@graph")) if isinstance(node, dict) else None
            entries += inner if isinstance(inner, list) else [node]
    # Pages have JSON-LD of other kinds as well.
    named = [entry for entry in entries if isinstance(entry, dict) and _is_urn(entry.get("identifier"))]
    return encode({"entries": named}) if named else b""


def _is_urn(value: Any) -> bool:
    return isinstance(value, str) and URN.fullmatch(value) is not None


def _hrefs(html: bytes, relation: bytes) -> Iterator[str]:
    for link in _LINK.finditer(html):
        attributes = {name.lower(): a or b or c for name, a, b, c in _ATTRIBUTE.findall(link[1])}
        if relation in attributes.get(b"rel", b"").lower().split() and (href := attributes.get(b"href")):
            yield href.decode("utf-8", "replace")


def _first(urls: Iterable[str]) -> list[str]:
    return [url for url, _ in zip(dict.fromkeys(urls), range(MAX_MAPS), strict=False)]
