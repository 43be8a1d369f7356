"""Parameters and responses of the registry API (the official registry's OpenAPI, version 2025-10-17)."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qsl

import orjson
from attrs import evolve, frozen

from ..domain.entries import OFFICIAL, mcp_id_of
from ..domain.errors import BadInput
from ..domain.versions import Version
from . import _field_types
from ._cursors import decode_array, encode_array
from ._entries import OWN
from ._field_types import with_valid_types
from ._json import encode, raw, rfc3339
from ._parameters import MAX_KEYWORDS, MAX_PARAMETERS

MOST = 100
USUAL = 30
"""Entries of a page: the maximum, and the default."""


@frozen
class RegistryQuery:
    """A request for a page of the registry API.

    `version` is "all", "latest" or an exact version. `updated_since` is in seconds since the epoch. `place` is the end
    of the previous page: a name and version, or for a search a score and name; None for the first page.
    """

    search: str = ""
    version: str = "all"
    updated_since: float | None = None
    include_deleted: bool = False
    limit: int = USUAL
    place: tuple[Any, str] | None = None


def registry_version_parameters(query: bytes, name: str) -> tuple[RegistryQuery, str]:
    """Return the request for versions of `name` in a query string, and the last version of the previous page.

    Raises BadInput, also for a cursor of another list.
    """
    request = registry_parameters(query, usual=MOST)
    if request.place is None:
        return request, ""
    if request.search or request.place[0] != name:
        raise BadInput("cursor: belongs to another list; take it from metadata.nextCursor of the page before.")
    return request, request.place[1]


def registry_parameters(query: bytes, usual: int = USUAL) -> RegistryQuery:
    """Return the request in a query string. `usual` is the default limit. Unknown parameters are ignored.

    A cursor includes the search and filters of its first page, which VS Code omits from the second page on. Raises
    BadInput.
    """
    try:
        # Clients send the cursor without percent-encoding, which base64url does not need. VS Code escapes nothing.
        given = dict(parse_qsl(query.decode(), keep_blank_values=True, errors="strict", max_num_fields=MAX_PARAMETERS))
    except UnicodeDecodeError:
        raise BadInput("The URL's parameters are not UTF-8.") from None
    except ValueError:
        raise BadInput(f"The URL has more than {MAX_PARAMETERS} parameters.") from None
    limit = _limit(given.get("limit", ""), usual)
    if given.get("cursor"):
        return evolve(_decode_cursor(given["cursor"]), limit=limit)
    search = given.get("search", "").strip()
    if len(search) > MAX_KEYWORDS:
        raise BadInput(f"search: has {len(search):,} characters; at most {MAX_KEYWORDS} are allowed.")
    return RegistryQuery(
        search,
        given.get("version") or "all",
        _date(given.get("updated_since", "")),
        _flag(given.get("include_deleted", "")),
        limit,
    )


def encode_registry_cursor(query: RegistryQuery, place: tuple[Any, str]) -> str:
    """Return the cursor of the page of `query` after `place`."""
    fields = [query.search, query.version, query.updated_since, query.include_deleted, *place]
    return encode_array(fields)


def registry_entry(version: Version) -> bytes:
    """Return a version as an encoded item of the registry API.

    The server.json is as published, without members of the wrong type, which would make VS Code reject the page. The
    official key of `_meta` has the status and dates of this directory.
    """
    entry = orjson.loads(version.body)
    server, meta = with_valid_types(entry["server"], _field_types.SERVER), entry["_meta"]
    if not server["description"].strip():
        # VS Code rejects a page with an entry without a description.
        server = {**server, "description": server.get("title") or server["name"]}
    official = meta.get(OFFICIAL)
    known = with_valid_types(official, _field_types.OFFICIAL) if isinstance(official, dict) else {}
    status = "deleted" if version.deleted else known.get("status") or "active"
    meta = {
        **meta,
        OFFICIAL: {
            **known,
            "status": status,
            "publishedAt": known.get("publishedAt") or rfc3339(version.published_at),
            "updatedAt": rfc3339(version.updated_at),
            "isLatest": version.latest,
        },
        OWN: {"mcpId": mcp_id_of(version.name), "curated": version.curated, "official": entry.get("official") is True},
    }
    return encode({"server": server, "_meta": meta})


def registry_page(entries: list[bytes], cursor: str | None = None) -> bytes:
    """Return a page of encoded entries."""
    metadata = {"count": len(entries), **({"nextCursor": cursor} if cursor else {})}
    return encode({"servers": [raw(entry) for entry in entries], "metadata": metadata})


def _decode_cursor(cursor: str) -> RegistryQuery:
    try:
        match decode_array(cursor):
            case [str(search), str(version), None | int() | float() as since, bool(deleted), str(place), str(name)]:
                if search:
                    raise ValueError
            case [
                str(search),
                str(version),
                None | int() | float() as since,
                bool(deleted),
                int() | float() as place,
                str(name),
            ]:
                if not search or len(search) > MAX_KEYWORDS:
                    raise ValueError
            case _:
                raise ValueError
    except ValueError:
        raise BadInput("cursor: is not one that this server gave; take it from metadata.nextCursor.") from None
    return RegistryQuery(search, version, since, deleted, place=(place, name))


def _limit(text: str, usual: int) -> int:
    if not text:
        return usual
    if not (text.isascii() and text.isdigit() and len(text) < 10 and 1 <= int(text) <= MOST):
        raise BadInput(f"limit: must be a whole number of 1 to {MOST}.")
    return int(text)


def _flag(text: str) -> bool:
    if text not in ("", "true", "false"):
        raise BadInput("include_deleted: must be true or false.")
    return text == "true"


def _date(text: str) -> float | None:
    if not text:
        return None
    try:
        # An unescaped plus sign was decoded as a space.
        moment = datetime.fromisoformat(text.replace(" ", "+"))
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        raise BadInput("updated_since: must be a date of RFC 3339 such as 2026-01-31T00:00:00Z.") from None
