"""Rules: which entries have a malicious package, and what is shown in their place."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from attrs import frozen

from ...domain.entries import OFFICIAL, Entry
from ...serialization import REMOVAL, rfc3339
from ...texts.sanitize import clean_line
from .osv import Advisory, package_key

MAX_PACKAGES = 100
"""Packages of an entry that are compared."""

MAX_NAMED = 3
"""Packages, and records, that a reason names."""

_KEPT = ("$schema", "name", "version")
"""Members of the server.json that stay: texts, links and images of the publisher may deceive."""

DESCRIPTION = "Removed from this directory: it has a malicious package."
"""What replaces the description, which a server.json must have."""


@frozen
class Finding:
    """A malicious package of an entry: its type, identifier and version, and the ids of the records."""

    kind: str
    identifier: str
    version: str
    ids: tuple[str, ...]

    @property
    def text(self) -> str:
        name = clean_line(f"{self.identifier} {self.version}".strip(), 200)
        return f"{self.kind} package {name} ({', '.join(self.ids[:MAX_NAMED])})"


def packages_of(entry: Entry) -> Sequence[tuple[str, str, str, str]]:
    """Return key, type, identifier and version of the packages of `entry` that advisories may name."""
    found = []
    for package in entry.packages[:MAX_PACKAGES]:
        kind, identifier, version = (_text(package.get(member)) for member in ("registryType", "identifier", "version"))
        key = package_key(kind, identifier)
        if key:
            found.append((key, kind, identifier, version))
    return found


def findings_of(entry: Entry, advisories: Mapping[str, Collection[Advisory]]) -> Sequence[Finding]:
    """Return the malicious packages of `entry`; `advisories` are those of its packages, by key."""
    found = []
    for key, kind, identifier, version in packages_of(entry):
        ids = tuple(advisory.id for advisory in advisories.get(key, ()) if advisory.covers(version))
        if ids:
            found.append(Finding(kind, identifier, version, ids))
    return found


def bare_server(entry: Entry) -> dict[str, Any]:
    """Return the server.json that a removed entry has: nothing that its publisher wrote but name and version."""
    return {name: entry.server[name] for name in _KEPT if name in entry.server} | {"description": DESCRIPTION}


def removed(entry: Entry, findings: Sequence[Finding], now: float) -> Entry:
    """Return what is shown in place of `entry`: without packages, remotes and texts of its publisher."""
    reason = f"Malicious: {'; '.join(finding.text for finding in findings[:MAX_NAMED])}."
    date = rfc3339(now)
    official = {
        **dict.fromkeys(("statusChangedAt", "updatedAt"), date),
        **({"publishedAt": entry.official["publishedAt"]} if "publishedAt" in entry.official else {}),
        "status": "deleted",
        "statusMessage": f"Removed from this directory on {date[:10]}. {reason}",
        "isLatest": True,
    }
    ids = list(dict.fromkeys(number for finding in findings for number in finding.ids))
    return Entry(bare_server(entry), {OFFICIAL: official, REMOVAL: {"at": date, "reason": reason, "ids": ids}})


@frozen
class Removal:
    """The removal of an entry: when it was (RFC 3339), why, and the ids of the records."""

    at: str
    reason: str
    ids: tuple[str, ...]


def removal_of(entry: Entry) -> Removal | None:
    """Return the removal of an entry that was removed, None for other entries."""
    found: Any = entry.meta.get(REMOVAL)
    return Removal(found["at"], found["reason"], tuple(found["ids"])) if found else None


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
