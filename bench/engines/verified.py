"""Verifications of fake remotes and packages.

Every entry with a remote works, and its remote lists tools made of its own words. The package of an entry has the long
texts that its publisher gave.
"""

from __future__ import annotations

import re

from attrs import evolve

from directory_server.domain.entries import PUBLISHER, Entry
from directory_server.domain.tools import OfferedTool
from directory_server.domain.verification import MAX_README, MAX_SUMMARY, PackageTexts, VerifiedStatus
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


MOVED = ("longDescription", "alternativeDescriptions", "readme")
"""The publisher's long texts of an entry, which are like those of its package."""


def fake_package(entry: Entry) -> tuple[Entry, PackageTexts | None]:
    """Return `entry` without its long texts, and these as the texts of its package of npm or PyPI.

    An entry without such a package or text is returned as it is, with None.
    """
    kinds = {package.get("registryType") for package in entry.packages}
    if not kinds & {"npm", "pypi"} or not any(entry.publisher.get(name) for name in MOVED):
        return entry, None
    others = entry.publisher.get("alternativeDescriptions")
    texts = [entry.long_description, *(others if isinstance(others, list) else ()), entry.readme]
    summary, *rest = [text for text in texts if isinstance(text, str) and text] or [""]
    # A long summary is cut, and is the beginning of the README too. The texts have little markup.
    readme = " ".join(([summary] if len(summary) > MAX_SUMMARY else []) + rest)
    publisher = {name: value for name, value in entry.publisher.items() if name not in MOVED}
    server = {**entry.server, "_meta": {**entry.server["_meta"], PUBLISHER: publisher}}
    return evolve(entry, server=server), PackageTexts(summary[:MAX_SUMMARY], (), readme[:MAX_README])
