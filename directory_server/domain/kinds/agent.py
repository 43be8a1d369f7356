"""Agents: cards of the A2A protocol, of its versions 0.2 to 1.0 (a2a-protocol.org, section 4.4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..shapes import List, Object, Text, as_objects, as_texts
from ._kind import Card, Described, Kind, Use

_LINE, _TEXT, _URL = Text(300, is_raw=True), Text(10_000, is_raw=True), Text(2_000, is_raw=True)

_SKILL = Object(
    {
        "id": _LINE,
        "name": _LINE,
        "description": _TEXT,
        "tags": List(_LINE),
        "examples": List(_TEXT),
    },
    ["name"],
    is_open=True,
)

_INTERFACE = Object({"url": _URL}, ["url"], is_open=True)

_CARD = Object(
    {
        "name": Text(300, 1, is_raw=True),
        "description": Text(10_000, 1, is_raw=True),
        "version": Text(255, is_raw=True),
        "url": _URL,
        "documentationUrl": _URL,
        "iconUrl": _URL,
        "provider": Object({"organization": _LINE, "url": _URL}, is_open=True),
        "skills": List(_SKILL),
        "supportedInterfaces": List(_INTERFACE),
        "additionalInterfaces": List(_INTERFACE),
    },
    ["name", "description"],
    is_open=True,
)


def _describe(card: Mapping[str, Any]) -> Described:
    skills = as_objects(card.get("skills"))
    icon = card.get("iconUrl")
    return Described(
        {
            "title": card["name"],
            "description": card["description"],
            "version": card.get("version"),
            "websiteUrl": card.get("documentationUrl") or card.get("provider", {}).get("url"),
            "icons": [{"src": icon}] if icon else None,
        },
        {
            # Searches name the skills that match, as they name the tools of servers.
            "tools": [{"name": skill["name"], "description": skill.get("description", "")} for skill in skills],
            "tags": [tag for skill in skills for tag in as_texts(skill.get("tags"))],
        },
    )


def _uses(card: Card, name: str) -> Sequence[Use]:
    document = card.data if isinstance(card.data, dict) else {}
    interfaces = as_objects(document.get("supportedInterfaces")) or [document]
    endpoints = [url for interface in interfaces[:3] if isinstance(url := interface.get("url"), str)]
    return [
        *([Use("card", card.url)] if card.url else []),
        *(Use("endpoint", url) for url in dict.fromkeys(endpoints) if url.startswith(("https://", "http://"))),
    ]


KIND = Kind(
    name="agent",
    media_types=("application/a2a-agent-card+json",),
    aliases=dict.fromkeys(
        ("application/agent-card+json", "application/vnd.a2a.agent-card+json"), "application/a2a-agent-card+json"
    ),
    check=lambda document: _CARD(document, ""),
    describe=_describe,
    uses=_uses,
    is_read=lambda url: True,
)
