"""Drop fields of the wrong type before serving an entry."""

from __future__ import annotations

from typing import Any

Shape = type | dict[str, Any] | list[Any]

_ARGUMENTS: Shape = [{"name": str, "description": str, "choices": list, "variables": dict}]
_TRANSPORT: Shape = {"type": str, "url": str, "headers": _ARGUMENTS, "variables": dict}

SERVER: Shape = {
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

OFFICIAL: Shape = {"status": str, "statusMessage": str, "publishedAt": str, "updatedAt": str, "isLatest": bool}
"""Types of the official registry's part of `_meta` that editors rely on."""


def with_valid_types(value: dict[str, Any], shape: Shape) -> dict[str, Any]:
    """Return `value` without members of the wrong type; the same object if all types are right."""
    found, is_valid = _validated(value, shape)
    return found if is_valid else {}


def _validated(value: Any, shape: Shape) -> tuple[Any, bool]:
    """Return `value` without invalid members, and whether it is itself of the type `shape`. Null counts as absent."""
    if isinstance(shape, dict):
        if not isinstance(value, dict):
            return None, False
        changed = {}
        for name, inner in shape.items():
            if (member := value.get(name)) is not None:
                found, is_valid = _validated(member, inner)
                if not is_valid or found is not member:
                    changed[name] = (found, is_valid)
        if not changed:
            return value, True
        left = {name: changed.get(name, (member, True)) for name, member in value.items()}
        return {name: found for name, (found, is_valid) in left.items() if is_valid}, True
    if isinstance(shape, list):
        if not isinstance(value, list):
            return None, False
        kept = [found for found, is_valid in (_validated(each, shape[0]) for each in value) if is_valid]
        same = len(kept) == len(value) and all(one is other for one, other in zip(kept, value, strict=True))
        return (value if same else kept), True
    return value, isinstance(value, shape)
