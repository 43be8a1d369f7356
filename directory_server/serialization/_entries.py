"""Entries as JSON: `{"server": {server.json}, "_meta": {…}}`, the shape of the official registry's API."""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

import orjson
from attrs import evolve

from ..domain.entries import Detail, Entry
from ..domain.errors import BadInput
from ._json import encode

OWN = "io.github.mcp-directory-server/entry"
"""The key of `_meta` under which the directory says what it knows of an entry itself."""

MAX_NAME = 200
"""Characters of a server's name (server.json schema: 3 to 200)."""

MAX_VERSION = 255
"""Characters of a version (server.json schema). Cursors of the registry API hold versions."""

MAX_ENTRY = 1_000_000
"""Bytes of one encoded entry; the largest real one has 62,244."""

MAX_VALUES = 20_000
"""JSON values in an entry; the most that a real one has are 2,192. Each takes up to 64 bytes of memory when decoded."""

MAX_DETAIL = 512 * 1024
"""Bytes of the encoded detail of an entry; the largest of a real one has 149,410."""

_LARGEST = ("server", "install", "packages", "remotes", "icons", "tools")
"""Fields of the detail that are left out where it has more."""


def decode_entry(value: Any) -> Entry:
    """Return the entry that `value` describes: a bare `server.json`, or one under `server` beside its `_meta`.

    Only what the directory cannot do without is demanded: `name`, `version` and `description` of type string. Other
    oddities of real documents go in as they are. Raises BadInput with the path of what is wrong.
    """
    if not isinstance(value, dict):
        raise BadInput("An entry must be an object: a server.json, or one under 'server' beside its '_meta'.")
    server = value.get("server", value)
    meta = value.get("_meta", {}) if "server" in value else {}
    if not isinstance(server, dict):
        raise BadInput("server: must be an object.")
    if not isinstance(meta, dict):
        raise BadInput("_meta: must be an object.")
    for member in ("name", "version", "description"):
        if member not in server:
            raise BadInput(f"server.{member}: is required.")
        if not isinstance(server[member], str):
            raise BadInput(f"server.{member}: must be a string.")
    name = server["name"]
    if not name.strip() or len(name) > MAX_NAME or not name.isprintable():
        raise BadInput(f"server.name: must be 1 to {MAX_NAME} printable characters.")
    if not server["version"].strip():
        raise BadInput("server.version: must not be empty.")
    if len(server["version"]) > MAX_VERSION:
        raise BadInput(f"server.version: must be 1 to {MAX_VERSION} characters.")
    entry = Entry(server, meta)
    encoded = encode_entry(entry)
    if len(encoded) > MAX_ENTRY:
        raise BadInput(f"The entry is larger than {MAX_ENTRY:,} bytes.")
    # Each value stands behind one of these characters, of which texts may have more.
    if sum(map(encoded.count, (b",", b"[", b"{"))) > MAX_VALUES and _has_more_values(entry, MAX_VALUES):
        raise BadInput(f"The entry has more than {MAX_VALUES:,} JSON values.")
    return entry


def _has_more_values(entry: Entry, most: int) -> bool:
    inside: list[Any] = [entry.server, entry.meta]
    while inside and most >= 0:
        container = inside.pop()
        most -= len(container)
        members = container.values() if isinstance(container, dict) else container
        inside += [each for each in members if isinstance(each, dict | list)]
    return most < 0


def encode_entry(entry: Entry) -> bytes:
    """Return the entry as JSON, its members in the order they came in."""
    return orjson.dumps(_stored(entry))


def encode_detail(detail: Detail) -> bytes:
    """Return the detail of an entry as JSON of at most MAX_DETAIL bytes; its largest fields are left out for that."""
    body = encode(detail)
    if len(body) <= MAX_DETAIL:
        return body
    omitted = (*dict.fromkeys((*detail.omitted, *_LARGEST)),)
    return encode(evolve(detail, omitted=omitted, server={}, install=(), packages=(), remotes=(), icons=(), tools=()))


def restore_entry(body: bytes) -> Entry:
    """Return the entry that `encode_entry` made `body` of, which is trusted: a store reads back its own."""
    value = orjson.loads(body)
    return Entry(value["server"], value["_meta"], value.get("official") is True)


def fingerprint(entry: Entry) -> bytes:
    """Return 16 bytes that two entries share when, the order of members apart, they say the same."""
    canonical = orjson.dumps(_stored(entry), option=orjson.OPT_SORT_KEYS)
    return blake2b(canonical, digest_size=16).digest()


def endorsed(entry: Entry) -> Entry:
    """Return `entry` as a source gives it whose word is taken for what the official registry lists.

    It lists what has the registry's key in `_meta`, unless the source is a directory server that says it does not:
    those write the key for every entry, for clients that need the dates in it.
    """
    own = entry.meta.get(OWN)
    denied = isinstance(own, dict) and own.get("official") is False
    return evolve(entry, is_official=bool(entry.official) and not denied)


def _stored(entry: Entry) -> dict[str, Any]:
    # An entry that no trusted source vouches for is stored as it was before there was such a mark.
    return {"server": entry.server, "_meta": entry.meta} | ({"official": True} if entry.is_official else {})
