"""Plugins of editors: manifests `plugin.json` of Claude Code, Copilot and Cursor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..shapes import List, Object, Text, as_texts
from ._kind import Described, Kind, Use

_LINE, _URL = Text(300, is_raw=True), Text(2_000, is_raw=True)

_MANIFEST = Object(
    {
        "name": Text(200, 1, is_raw=True),
        "displayName": _LINE,
        "description": Text(10_000, 1, is_raw=True),
        "version": Text(255, is_raw=True),
        "homepage": _URL,
        "license": _LINE,
        "keywords": List(_LINE),
    },
    ["name", "description"],
    is_open=True,
)


def _describe(manifest: Mapping[str, Any]) -> Described:
    return Described(
        {
            "title": manifest.get("displayName") or manifest["name"],
            "description": manifest["description"],
            "version": manifest.get("version"),
            "websiteUrl": manifest.get("homepage"),
        },
        {"tags": as_texts(manifest.get("keywords")), "license": manifest.get("license")},
    )


KIND = Kind(
    name="plugin",
    # Editors ask for those of their own type.
    media_types=(
        "application/vnd.anthropic.claude-plugin+json",
        "application/vnd.github.copilot-plugin",
        "application/vnd.cursor.cursor-plugin+json",
    ),
    aliases={},
    check=lambda document: _MANIFEST(document, ""),
    describe=_describe,
    uses=lambda card, name: [Use("plugin", card.url)] if card.url else [],
    is_read=lambda url: url.partition("?")[0].lower().endswith(".json"),
)
