"""Catalog entries of each kind other than servers."""

from __future__ import annotations

from typing import Any

from directory_server.domain.entries import Entry
from directory_server.serialization import decode_entry

SKILL_FILE = """---
name: invoice-check
description: >
  Check invoices against
  purchase orders.
license: "Apache-2.0"
allowed-tools: Read
---
# Check invoices

Read both documents.
"""

AGENT_CARD = {
    "name": "Route planner",
    "description": "Plans bicycle routes between two cities.",
    "version": "1.2.0",
    "url": "https://agents.acme.com/routes",
    "documentationUrl": "https://acme.com/routes",
    "provider": {"organization": "Acme"},
    "capabilities": {"streaming": True},
    "skills": [
        {"id": "plan", "name": "plan_route", "description": "Plan a route around mountains.", "tags": ["cycling"]}
    ],
}

AGENT = {
    "identifier": "urn:air:acme.com:agents:routes",
    "displayName": "Route planner",
    "type": "application/a2a-agent-card+json",
    "data": AGENT_CARD,
    "representativeQueries": ["plan a bicycle tour"],
}

SKILL = {
    "identifier": "urn:air:acme.com:skill:invoice-check",
    "displayName": "Invoice check",
    "type": "application/agent-skills+md",
    "data": SKILL_FILE,
}

PLUGIN = {
    "identifier": "urn:air:acme.com:tools:reviewer",
    "displayName": "Reviewer",
    "type": "application/vnd.github.copilot-plugin",
    "url": "https://github.com/acme/reviewer",
    "description": "Reviews pull requests.",
    "tags": ["review"],
}


def of_kind(item: dict[str, Any], **members: Any) -> Entry:
    """Return the entry of a catalog entry with other `members`."""
    return decode_entry({**item, **members})
