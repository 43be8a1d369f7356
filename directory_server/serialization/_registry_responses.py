"""Responses of the registry API, without fields of the wrong type (the official OpenAPI, version 2025-10-17)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

import orjson

from ..domain.ending_views import ENDED
from ..domain.entries import OFFICIAL, mcp_id_of
from ..domain.versions import Version
from ..domain.views import ACTIVE
from ._entries import ENDING_META, OWN
from ._json import encode, raw, rfc3339

Shape = type | dict[str, Any] | list[Any]

_ARGUMENTS: Shape = [{"name": str, "description": str, "choices": list, "variables": dict}]
_TRANSPORT: Shape = {"type": str, "url": str, "headers": _ARGUMENTS, "variables": dict}

SERVER_TYPES: Shape = {
    "title": str,
    "websiteUrl": str,
    "repository": {"url": str, "source": str, "id": str, "subfolder": str},
    "icons": [{"src": str, "mimeType": str, "sizes": list, "theme": str}],
    "remotes": [_TRANSPORT],
    "packages": [
        {
            "registryType": str,
            "registryBaseUrl": str,
            "identifier": str,
            "version": str,
            "fileSha256": str,
            "runtimeHint": str,
            "transport": _TRANSPORT,
            "runtimeArguments": _ARGUMENTS,
            "packageArguments": _ARGUMENTS,
            "environmentVariables": _ARGUMENTS,
        }
    ],
}
"""Types of server.json in the official schema that editors rely on."""

OFFICIAL_TYPES: Shape = {"status": str, "statusMessage": str, "publishedAt": str, "updatedAt": str, "isLatest": bool}
"""Types of the official registry's part of `_meta` that editors rely on."""


NO_META: Mapping[str, object] = MappingProxyType({})


def registry_entry(version: Version, added: Mapping[str, object] = NO_META) -> bytes:
    """Return a version as an encoded item of the registry API.

    The server.json is as published, without members of the wrong type, which would make VS Code reject the page. The
    official key of `_meta` has the status and dates of this directory. `added` are further members of `_meta`.
    """
    entry = orjson.loads(version.body)
    server, meta = _with_valid_types(entry["server"], SERVER_TYPES), entry["_meta"]
    if not server["description"].strip():
        # VS Code rejects a page with an entry without a description.
        server = {**server, "description": server.get("title") or server["name"]}
    official = meta.get(OFFICIAL)
    known = _with_valid_types(official, OFFICIAL_TYPES) if isinstance(official, dict) else {}
    ends: Any = added.get(ENDING_META)
    if ends is not None and ends.state in ENDED and known.get("status", ACTIVE) == ACTIVE:
        known = {**known, "status": "deprecated", "statusMessage": ends.text}
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
        **added,
    }
    return encode({"server": server, "_meta": meta})


def registry_page(entries: list[bytes], cursor: str | None = None) -> bytes:
    metadata = {"count": len(entries), **({"nextCursor": cursor} if cursor else {})}
    return encode({"servers": [raw(entry) for entry in entries], "metadata": metadata})


def _with_valid_types(value: dict[str, Any], shape: Shape) -> dict[str, Any]:
    """Return `value` without members of the wrong type; the same object if all types are right."""
    found, is_valid = _validated(value, shape)
    return found if is_valid else {}


def _validated(value: Any, shape: Shape) -> tuple[Any, bool]:
    """Return `value` without invalid members, and whether it is itself of the type `shape`. Empty is invalid, too."""
    if isinstance(shape, dict):
        if not isinstance(value, dict):
            return None, False
        changed = {}
        for name, inner in shape.items():
            if name in value:
                found, is_valid = _validated(value[name], inner)
                if not is_valid or found is not value[name]:
                    changed[name] = (found, is_valid)
        if changed:
            left = {name: changed.get(name, (member, True)) for name, member in value.items()}
            value = {name: found for name, (found, is_valid) in left.items() if is_valid}
        return value, bool(value)
    if isinstance(shape, list):
        if not isinstance(value, list):
            return None, False
        kept = [found for found, is_valid in (_validated(each, shape[0]) for each in value) if is_valid]
        same = len(kept) == len(value) and all(one is other for one, other in zip(kept, value, strict=True))
        return (value if same else kept), bool(kept)
    return value, isinstance(value, shape) and value not in ("", [], {})


_NEEDED = {
    "remotes": ("type", "url"),
    "packages": ("registryType", "identifier"),
    "environmentVariables": ("name",),
    "headers": ("name",),
}
"""Members without which an object in these lists is of no use."""


def unread_parts(value: Any, shape: Shape = SERVER_TYPES, path: str = "") -> Iterator[str]:
    """Yield a text for each part of a server.json that is left out: of the wrong type, or without a needed member."""
    if isinstance(shape, dict) and isinstance(value, dict):
        for name, inner in shape.items():
            if value.get(name) is not None:
                yield from unread_parts(value[name], inner, f"{path}.{name}" if path else name)
    elif isinstance(shape, list) and isinstance(value, list):
        for number, item in enumerate(value):
            yield from unread_parts(item, shape[0], f"{path}[{number}]")
            needed = _NEEDED.get(path.rpartition(".")[2], ()) if isinstance(item, dict) else ()
            yield from (f"{path}[{number}] has no {name}" for name in needed if not item.get(name))
    elif not isinstance(shape, type) or not isinstance(value, shape):
        yield f"{path} is of the wrong type"
