"""An upstream: its configuration, the headers of its requests, and the errors of its sync runs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Literal
from urllib.parse import quote, urlencode, urlsplit

from attrs import evolve, frozen

from ..domain.errors import DirectoryError
from ..domain.patterns import NamePatterns
from ..domain.upstreams import UpstreamState
from ..runtime.files import read_regular_file
from ..texts.wording import entries


class UpstreamFailed(DirectoryError):
    """A sync run failed; the message is for the operator.

    `retry_after` is the delay in seconds that the upstream requested. A `resumable` run continues where it stopped.
    `is_absent` is whether the requested document does not exist.
    """

    code = "upstream_failed"

    def __init__(
        self, message: str, *, retry_after: float = 0.0, resumable: bool = False, is_absent: bool = False
    ) -> None:
        super().__init__(message)
        self.retry_after = retry_after
        self.resumable = resumable
        self.is_absent = is_absent


class UpstreamBusy(DirectoryError):
    """Another process holds the lease of the upstream."""

    code = "upstream_busy"


Versions = Literal["latest", "all"]

PAGE = 100
"""Entries per page, the maximum of the official API."""

OFFICIAL_HOST = "registry.modelcontextprotocol.io"
"""The host of the official registry, which its certificate proves."""

_FILE = re.compile(r"\.(json|jsonl|ndjson)(\.gz)?$")


@frozen
class Upstream:
    """A registry with the official API, a file of entries, or a catalog of ARD, mirrored as the source `name`.

    `url` is the registry's URL, with or without `/v0.1/servers`, or a file's URL or path; if `kind` is `catalog`, the
    URL of a manifest, or of a domain that has one. `interval` is the seconds
    between two sync runs. `headers` are templates such as `Authorization: env:TOKEN`, see `headers()`. A name is
    selected if it matches a pattern of `include` (or that is empty) and no pattern of `exclude`; `*` matches any text.
    Nothing is removed if a full sync has fewer entries than the share `floor` of the last one. An `official` upstream
    is trusted about which entries the official registry lists, see `is_official`. `versions` is what is stored of a
    name: all versions, or those that were the latest at a sync run. The store keeps at most `max_entries` names and
    `max_bytes` of documents.
    `start` is the URL or path of a dump of the registry, which the first sync run reads in place of all pages.
    A catalog has names of its own domain, and of those that match `publishers`. Its documents may be in
    `allowed_networks`, which are not public.
    """

    name: str
    url: str
    interval: float = 3600.0
    headers: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    floor: float = 0.85
    official: bool = False
    versions: Versions = "all"
    max_entries: int = 100_000
    max_bytes: int = 1_000_000_000
    start: str = ""
    kind: Literal["registry", "catalog"] = "registry"
    publishers: tuple[str, ...] = ()
    allowed_networks: tuple[str, ...] = ()

    @property
    def is_path(self) -> bool:
        """Whether it is a local file."""
        return not self.is_catalog and not self.url.startswith(("http://", "https://"))

    @property
    def is_file(self) -> bool:
        """Whether it is a file, local or remote, not a registry."""
        return self.is_path or (not self.is_catalog and _FILE.search(urlsplit(self.url).path) is not None)

    @property
    def is_official(self) -> bool:
        """Whether its word about what the official registry lists counts: it is that registry, or the operator says so.

        A dump with which the first sync run begins can be of anybody.
        """
        parts = urlsplit(self.url)
        is_registry = parts.scheme == "https" and parts.netloc.lower() in (OFFICIAL_HOST, f"{OFFICIAL_HOST}:443")
        return self.official or (is_registry and not self.start and self.kind == "registry")

    @property
    def is_catalog(self) -> bool:
        """Whether it is a catalog of ARD."""
        return self.kind == "catalog"

    @property
    def is_whole(self) -> bool:
        """Whether every sync run reads all entries, because there is no list of changes."""
        return self.is_file or self.is_catalog

    def dump(self, state: UpstreamState) -> Upstream | None:
        """Return the dump that a sync run after `state` begins with, None if it reads `url`."""
        progress = state.progress
        is_first = state.full_sync_at is None and not (progress and progress.cursor)
        return evolve(self, url=self.start) if self.start and is_first and not self.is_catalog else None

    def over_limit(self, count: int) -> UpstreamFailed:
        """Return the error of a sync run that did not store `count` entries because of the limits."""
        return UpstreamFailed(
            f"It exceeds its limits, max_entries = {self.max_entries} and max_bytes = {self.max_bytes}: "
            f"{entries(count)} not stored, and nothing was removed. "
            f"Raise the limits of the upstream {self.name}, or exclude names."
        )

    def shrunken(self, seen: int, before: int) -> UpstreamFailed:
        """Return the error of a full sync that has `seen` fewer entries than it may, of those `before`."""
        return UpstreamFailed(
            f"It has {entries(seen)} where it had {before:,}, fewer than {self.floor:.0%}: nothing was removed. If "
            f"that is right, lower the floor of the upstream {self.name}."
        )

    @cached_property
    def _list(self) -> str:
        base = self.url.rstrip("/")
        return base if base.endswith("/servers") else f"{base}/v0.1/servers"

    def page(self, cursor: str, since: str) -> str:
        """Return the URL of the page at `cursor`, of changes since `since` (RFC 3339); either may be empty.

        The page has all versions: with `version=latest` the official registry would not show a version that it has
        just withdrawn, and no status of an older one.
        """
        return f"{self._list}?{_query(cursor=cursor, updated_since=since)}"

    def versions_of(self, name: str, cursor: str) -> str:
        """Return the URL of the page at `cursor` of the versions of a name."""
        return f"{self._list}/{quote(name, safe='')}/versions?{_query(cursor=cursor)}"

    @property
    def selection(self) -> str:
        """The URL, patterns, trust and versions as text; a change of it causes a full sync."""
        official = "official" if self.is_official else ""
        catalog = f"catalog={' '.join(self.publishers)}" if self.is_catalog else ""
        return " ".join(filter(None, (self.url, self._patterns.text, official, f"versions={self.versions}", catalog)))

    def selects(self, name: str) -> bool:
        """Return whether entries with this name are mirrored."""
        return self._patterns.selects(name)

    @property
    def _patterns(self) -> NamePatterns:
        return NamePatterns(self.include, self.exclude)


def _query(**parameters: str) -> str:
    given = {"limit": PAGE, "include_deleted": "true"} | parameters
    return urlencode({name: value for name, value in given.items() if value})


def headers(templates: Iterable[str], environ: Mapping[str, str]) -> dict[str, str]:
    """Return the headers of `templates`: `Name: env:VARIABLE` or `Name: file:/path`.

    Raises UpstreamFailed if a value is missing or invalid.
    """
    return {
        name: _value(name, source.strip(), environ)
        for name, _, source in (template.partition(":") for template in templates)
    }


def _value(name: str, source: str, environ: Mapping[str, str]) -> str:
    kind, _, where = source.partition(":")
    try:
        value = environ[where] if kind == "env" else read_regular_file(where).decode().strip()
    except KeyError:
        raise UpstreamFailed(
            f"Its header {name} is in the variable {where} of the environment, which is not set."
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise UpstreamFailed(f"Its header {name} is in the file {where}, which cannot be read: {reason}.") from None
    if not value or not value.isascii() or not value.isprintable():
        raise UpstreamFailed(f"Its header {name} is in {where}, which holds no line of printable ASCII.")
    return value
