"""Entries of other kinds than servers, from catalog entries of ARD: `{"identifier", "type", "url" or "data", …}`.

Their stored form is a server.json whose `_meta` has the card, so all that reads entries reads these too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ..domain.entries import OFFICIAL, PUBLISHER
from ..domain.errors import BadInput, NotFound
from ..domain.kinds import CARD, KINDS, MAX_CARD, SERVER, TYPES, Card, Kind, card_of, kind_of
from ..domain.shapes import as_texts
from ..domain.views import Detail
from ._json import encode

TEXT_TYPE = "text/markdown; charset=utf-8"
"""The content type of the file of a skill."""

UNKNOWN_VERSION = "0.0.0"
"""The version of an entry whose card and catalog entry have none."""

MAX_URL, MAX_LABELS = 2_000, 200
"""Characters of the URL of a card, and tags of an entry."""

CLAIMED = ("tags", "capabilities", "representativeQueries")
"""Members of a catalog entry that the publisher's metadata have as well."""

URN = re.compile(r"urn:air?:([A-Za-z0-9.-]+)((?::[A-Za-z0-9._-]+)+)")
"""An identifier. Until June 2026 it began with urn:ai."""

DATE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)")
"""A time in a catalog entry (RFC 3339)."""

_URL = re.compile(r"https?://[^\s/?#]+[^\s]*")


def reversed_domain(domain: str) -> str:
    """Return the labels of a domain, or of a namespace, in the opposite order: `com.acme` for `acme.com`."""
    return ".".join(reversed(domain.split(".")))


def catalog_name(publisher: str, parts: str, kind: str) -> str:
    """Return the registered name for an identifier: `com.acme/agent:weather` for `acme.com`, `:agents:weather`.

    `parts` are those after the publisher, each with its colon.
    """
    first, *others = parts.strip(":").split(":")
    short = others if kind != SERVER and others and first.lower() in (kind, f"{kind}s") else [first, *others]
    return f"{reversed_domain(publisher)}/{'' if kind == SERVER else f'{kind}:'}{'.'.join(short)}"


def card_document(kind: Kind, body: Any) -> Any:
    """Return `body`, the document of a card, if it is valid. Raises BadInput."""
    if issues := kind.check(body):
        raise BadInput(f"the {kind.name}'s card: {issues[0].path} {issues[0].message}".replace(":  ", ": "))
    if len(encode(body)) > MAX_CARD:
        raise BadInput(f"the {kind.name}'s card has more than {MAX_CARD:,} bytes.")
    return body


def card_server(fields: Mapping[str, Any], name: str, card: Card) -> dict[str, Any]:
    """Return the value of `decode_entry` for a catalog entry with these `fields`. The document of `card` is valid."""
    kind = KINDS[kind_of(name)]
    said = None if card.data is None else kind.describe(card.data)
    server, publisher = ({}, {}) if said is None else (dict(said.server), dict(said.publisher))
    tags = dict.fromkeys([*as_texts(publisher.get("tags")), *as_texts(fields.get("tags"))])
    publisher |= {member: fields[member] for member in CLAIMED if isinstance(fields.get(member), list)}
    publisher["tags"] = [*tags][:MAX_LABELS]
    title = first_text(fields.get("displayName"), server.get("title"))
    server |= {
        "name": name,
        "version": first_text(server.get("version"), fields.get("version"), UNKNOWN_VERSION),
        "title": title,
        "description": first_text(server.get("description"), fields.get("description"), title),
        "_meta": {PUBLISHER: {key: value for key, value in publisher.items() if value}, CARD: card.stored()},
    }
    updated = fields.get("updatedAt")
    dates = {"updatedAt": updated} if isinstance(updated, str) and DATE.fullmatch(updated) else {}
    return {
        "server": {key: value for key, value in server.items() if value not in (None, "")},
        "_meta": {OFFICIAL: dates} if dates else {},
    }


def card_body(detail: Detail) -> tuple[bytes, str]:
    """Return the card of an entry, of a server the server.json, and its media type. Raises NotFound.

    It is without texts that have marks, as `detail` is.
    """
    card = card_of(detail.server)
    data = detail.server if detail.kind == SERVER else card.data
    if not data:
        raise NotFound("The card of this entry is at its own URL, or is too large.")
    if isinstance(data, str):
        return data.encode(), TEXT_TYPE
    return encode(data), "application/json" if detail.kind == SERVER else card.type


def is_catalog_entry(value: Any) -> bool:
    """Return whether a value is a catalog entry, and no server.json."""
    return isinstance(value, dict) and "identifier" in value and "name" not in value and "server" not in value


def card_name(value: Any) -> str:
    """Return the registered name of the entry that a catalog entry describes, empty for any other value."""
    if not is_catalog_entry(value):
        return ""
    try:
        kind, _, match = _identified(value)
    except BadInput:
        return ""
    return catalog_name(match[1].lower(), match[2], kind.name)


def _identified(value: Mapping[str, Any]) -> tuple[Kind, str, re.Match[str]]:
    """Return the kind of a catalog entry, its media type, and the match of its identifier. Raises BadInput."""
    given, identifier = value.get("type"), value.get("identifier")
    typed = TYPES.get(given.partition(";")[0].strip().lower()) if isinstance(given, str) else None
    if typed is None:
        raise BadInput(f"type: must be one of {', '.join(TYPES)}.")
    match = URN.fullmatch(identifier) if isinstance(identifier, str) else None
    if match is None:
        raise BadInput("identifier: must be urn:air:, a domain, and one or more parts with colons between them.")
    return *typed, match


def catalog_server(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return the value of `decode_entry` for a catalog entry of another kind than servers. Raises BadInput."""
    kind, media_type, match = _identified(value)
    url, data = value.get("url"), value.get("data")
    if (url is None) == (data is None):
        raise BadInput("must have either url or data.")
    if url is not None:
        _check_url(url)
    if data is None and not first_text(value.get("displayName")):
        raise BadInput("displayName: is required without data.")
    name = catalog_name(match[1].lower(), match[2], kind.name)
    document = None if data is None else card_document(kind, data)
    return card_server(value, name, Card(media_type, "" if url is None else url, document))


def check_card(server: Mapping[str, Any]) -> None:
    """Raise BadInput if the name of an entry is that of another kind, and its card is not valid."""
    kind = KINDS.get(kind_of(server["name"]))
    if kind is None:
        return
    card = card_of(server)
    if card.type not in kind.media_types:
        raise BadInput(f"server._meta.{CARD}: must be a card of the type {' or '.join(kind.media_types)}.")
    if card.url:
        _check_url(card.url)
    if card.data is not None:
        card_document(kind, card.data)


def _check_url(url: Any) -> None:
    if not (isinstance(url, str) and len(url) <= MAX_URL and _URL.fullmatch(url)):
        raise BadInput(f"url: must be an http or https URL of at most {MAX_URL:,} characters.")


def first_text(*values: Any) -> str:
    """Return the first of `values` that is a text and not blank, else an empty one."""
    return next((value for value in values if isinstance(value, str) and value.strip()), "")
