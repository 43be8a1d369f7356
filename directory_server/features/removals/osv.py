"""Records of OSV that name malicious packages (https://ossf.github.io/osv-schema/)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import lru_cache
from operator import itemgetter
from typing import Any

from attrs import frozen
from packaging.version import InvalidVersion, Version

from ...domain.errors import BadInput
from ...domain.versions import semantic
from ...serialization import decode
from ...texts.sanitize import clean_line

ECOSYSTEMS: Mapping[str, str] = {"npm": "npm", "PyPI": "pypi", "NuGet": "nuget", "crates.io": "cargo"}
"""The ecosystems of OSV whose packages entries have, and their types of package registries."""

MAX_AFFECTED, MAX_EVENTS, MAX_VERSIONS = 1_000, 1_000, 20_000
"""Packages of a record, events and versions of a package that are read. A record with more is invalid."""

MAX_NAME, MAX_VERSION, MAX_ID = 250, 255, 60
"""Characters of a name, version and id. Packages with longer names are in no registry."""

MAX_VALUES = 60_000
"""Commas and opening brackets of a document, a bound of its JSON values."""

_ID = re.compile(rf"[A-Za-z0-9][A-Za-z0-9._-]{{0,{MAX_ID - 1}}}")

ALL = "0"
"""The version before all others, in the events of OSV."""

Event = tuple[str, str]
"""The kind of an event, `introduced`, `fixed`, `last_affected` or `limit`, and its version."""


@frozen
class Advisory:
    """The malicious versions of a package: those listed, and those in ranges of events. `id` is that of the record.

    `package` is a key, see `package_key`.
    """

    package: str
    id: str
    versions: tuple[str, ...] = ()
    ranges: tuple[tuple[Event, ...], ...] = ()

    def covers(self, version: str) -> bool:
        """Return whether `version` is malicious. Without a version, the latest one is installed: see `is_open`.

        Versions that installers take for the same are equal. What cannot be compared, such as a range, is malicious.
        """
        if version in ("", "latest"):
            return self.is_open
        kind = self.package.partition(" ")[0]
        order = _ORDERS[kind]
        place = order(version) if len(version) <= MAX_VERSION else None
        return (
            place is None
            or place in _places(kind, self.versions)
            or any(_is_inside(events, place, order) for events in self.ranges)
        )

    @property
    def is_open(self) -> bool:
        """Whether all later versions are malicious too."""
        return any(_is_inside(events, None, semantic) for events in self.ranges)


class InvalidRecord(Exception):
    """A document that is no record of OSV; the message is a sentence."""


def package_key(kind: str, identifier: str) -> str:
    """Return the key of a package of the type `kind`, empty if the type is unknown or the identifier is too long."""
    if kind not in _ORDERS or not 0 < len(identifier) <= MAX_NAME:
        return ""
    # The registries compare names so (PEP 503 for PyPI).
    name = identifier.lower() if kind != "pypi" else re.sub(r"[-_.]+", "-", identifier).lower()
    return f"{kind} {name}"


def advisories_of(body: bytes, ids: Sequence[str]) -> Sequence[Advisory]:
    """Return the advisories of an OSV record whose id matches a pattern of `ids`; none of one that is withdrawn.

    Raises InvalidRecord.
    """
    if sum(map(body.count, (b",", b"[", b"{"))) > MAX_VALUES:
        raise InvalidRecord(f"It has more than {MAX_VALUES:,} JSON values.")
    try:
        record = decode(body)
    except BadInput as error:
        raise InvalidRecord(error.message) from None
    number = record.get("id") if isinstance(record, dict) else None
    if not isinstance(number, str) or not _ID.fullmatch(number):
        raise InvalidRecord("id: must be the id of a record.")
    if record.get("withdrawn") or not any(fnmatchcase(number, pattern) for pattern in ids):
        return ()
    found = [_advisory(number, affected) for affected in _objects(record.get("affected"), MAX_AFFECTED, "affected")]
    return [advisory for advisory in found if advisory is not None]


def _advisory(number: str, affected: Mapping[str, Any]) -> Advisory | None:
    package = affected.get("package")
    ecosystem, name = (package.get("ecosystem"), package.get("name")) if isinstance(package, dict) else (None, None)
    kind = ECOSYSTEMS.get(ecosystem, "") if isinstance(ecosystem, str) else ""
    key = package_key(kind, name) if isinstance(name, str) and clean_line(name, MAX_NAME) == name else ""
    if not key:
        return None
    versions = affected.get("versions", [])
    if not isinstance(versions, list) or len(versions) > MAX_VERSIONS:
        raise InvalidRecord(f"affected.versions: must be a list of at most {MAX_VERSIONS:,} versions.")
    listed = tuple(version for version in versions if isinstance(version, str) and len(version) <= MAX_VERSION)
    given = affected.get("ranges")
    ranges = tuple(
        events
        for span in _objects(given, MAX_AFFECTED, "affected.ranges")
        if span.get("type") in ("SEMVER", "ECOSYSTEM") and (events := _events(span))
    )
    # A record that states no versions means the package.
    return Advisory(key, number, listed, ranges if listed or ranges or given else ((("introduced", ALL),),))


def _events(range_: Mapping[str, Any]) -> tuple[Event, ...]:
    return tuple(
        (kind, version)
        for event in _objects(range_.get("events"), MAX_EVENTS, "affected.ranges.events")
        for kind, version in event.items()
        if kind in ("introduced", "fixed", "last_affected", "limit")
        and isinstance(version, str)
        and len(version) <= MAX_VERSION
    )


def _objects(value: Any, most: int, name: str) -> Sequence[Mapping[str, Any]]:
    if value is None:
        return ()
    if not isinstance(value, list) or len(value) > most:
        raise InvalidRecord(f"{name}: must be a list of at most {most:,} objects.")
    return [item for item in value if isinstance(item, dict)]


Order = Callable[[str], Any]
"""Returns the sort key of a version, None if it is invalid."""


_NPM = re.compile(r"[v=\s]*(?P<core>[0-9]+\.[0-9]+\.[0-9]+)(?P<rest>(?:[A-Za-z+-]\S*)?)\s*")
"""A version as npm reads it (node-semver, loose): also with a "v" or "=", and with a prerelease without hyphen."""

_NUGET = re.compile(r"v?(?P<numbers>[0-9]+(?:\.[0-9]+){0,3})(?P<rest>(?:[+-]\S*)?)")


def _npm(version: str) -> Any:
    match = _NPM.fullmatch(version)
    return match and semantic(f"{match['core']}{'-' * match['rest'][:1].isalpha()}{match['rest']}")


def _nuget(version: str) -> Any:
    match = _NUGET.fullmatch(version)
    if match is None:
        return None
    # Absent numbers are 0, and letter case does not count.
    *core, revision = (match["numbers"].split(".") + ["0"] * 3)[:4]
    key = semantic(f"{'.'.join(core)}{match['rest'].lower()}")
    return key and (key[0], int(revision), *key[1:])


def _python(version: str) -> Any:
    try:
        # PyPI has no versions with a local part.
        return Version(Version(version).public)
    except InvalidVersion:
        return None


_ORDERS: Mapping[str, Order] = {"npm": _npm, "nuget": _nuget, "cargo": semantic, "pypi": _python}


@lru_cache(maxsize=4)
def _places(kind: str, versions: tuple[str, ...]) -> frozenset[Any]:
    """Return the sort keys of versions. An entry may have a hundred packages of one record with thousands of them."""
    return frozenset(map(_ORDERS[kind], versions))


def _is_inside(events: Sequence[Event], place: Any, order: Order) -> bool:
    """Return whether a version is in a range; `place` is its sort key, None for one after all others.

    The rule is that of OSV: the last event at or before the version decides.
    """
    if place is None:
        kinds = {kind for kind, _ in events}
        return "introduced" in kinds and kinds.isdisjoint({"fixed", "last_affected", "limit"})
    placed = [((0,) if version == ALL else (1, order(version)), kind) for kind, version in events]
    here, is_inside = (1, place), False
    for at, kind in sorted((event for event in placed if event[0][-1] is not None), key=itemgetter(0)):
        if at > here:
            break
        if kind == "introduced":
            is_inside = True
        elif kind != "last_affected" or at < here:
            is_inside = False
    return is_inside
