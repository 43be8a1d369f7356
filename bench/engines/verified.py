"""Verifications of fake remotes: every entry with a remote works, and its remote lists tools made of its own words."""

from __future__ import annotations

import re

from directory_server.domain.entries import Entry
from directory_server.domain.tools import OfferedTool
from directory_server.domain.verification import VerifiedStatus
from directory_server.domain.verified import IndexedVerification
from directory_server.serialization import encode_verification

_WORD = re.compile(r"\w{4,20}")

VERBS = ("get", "list", "search", "create", "update", "delete")

COMMON = (
    OfferedTool("health_check", description="Checks whether the server is healthy."),
    OfferedTool("help", description="Lists the available tools."),
)
"""Tools that all remotes list."""


def fake_verification(entry: Entry) -> bytes | None:
    """Return what the index holds of the checks of `entry`; None if it has no remote."""
    if not entry.remotes:
        return None
    words = list(dict.fromkeys(_WORD.findall(f"{entry.title} {entry.brief}".lower())))
    tools = [
        OfferedTool(
            f"{verb}_{word}",
            description=f"{verb.capitalize()} the {word} of the account, as a page of results with filters.",
        )
        for verb, word in zip(VERBS, words, strict=False)
    ]
    return encode_verification(IndexedVerification(VerifiedStatus.WORKS, "none", "", (*tools, *COMMON)))
