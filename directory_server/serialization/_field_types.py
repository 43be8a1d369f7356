"""Documents that are wrong somewhere, as far as programs of few suspicions can read them."""

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
"""What an editor takes for granted of server.json, by the official schema."""

OFFICIAL: Shape = {"status": str, "statusMessage": str, "publishedAt": str, "updatedAt": str, "isLatest": bool}
"""What it does of the official registry's part of `_meta`."""


def with_valid_types(value: dict[str, Any], shape: Shape) -> dict[str, Any]:
    """Return `value` without the members that are not of `shape`; the same object where all are."""
    found, right = _sound(value, shape)
    return found if right else {}


def _sound(value: Any, shape: Shape) -> tuple[Any, bool]:
    """Return what is left of `value`, and whether it is of `shape` itself. What is null counts as absent everywhere."""
    if isinstance(shape, dict):
        if not isinstance(value, dict):
            return None, False
        changed = {}
        for name, inner in shape.items():
            if (member := value.get(name)) is not None:
                found, right = _sound(member, inner)
                if not right or found is not member:
                    changed[name] = (found, right)
        if not changed:
            return value, True
        left = {name: changed.get(name, (member, True)) for name, member in value.items()}
        return {name: found for name, (found, right) in left.items() if right}, True
    if isinstance(shape, list):
        if not isinstance(value, list):
            return None, False
        kept = [found for found, right in (_sound(each, shape[0]) for each in value) if right]
        same = len(kept) == len(value) and all(one is other for one, other in zip(kept, value, strict=True))
        return (value if same else kept), True
    return value, isinstance(value, shape)
