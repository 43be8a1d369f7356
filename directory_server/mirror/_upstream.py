"""An upstream: where it is, and what is taken of it."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from functools import cached_property
from urllib.parse import urlencode, urlsplit

from attrs import frozen

PAGE = 100
"""Entries of a page, the most that the official API gives."""

_FILE = re.compile(r"\.(json|jsonl|ndjson)(\.gz)?$")


@frozen
class Upstream:
    """A registry with the official API, or a file of entries, which the directory follows as the source `name`.

    `url` is the registry's address, with or without `/v0.1/servers`, or a file's address or path. `interval` is the
    seconds between two rounds. `headers` are texts such as `Authorization: env:TOKEN`, as `headers()` reads them. Of
    names, those are taken that match one of `include`, or any if there is none, and none of `exclude`, patterns in
    which `*` stands for anything. Nothing is removed when fewer than the share `floor` of the last walk's entries come.
    Where it is `official`, its word is taken for which entries the official registry lists. The store keeps
    `max_entries` names of it and `max_bytes` of their documents.
    """

    name: str
    url: str
    interval: float = 3600.0
    headers: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    floor: float = 0.85
    official: bool = False
    max_entries: int = 100_000
    max_bytes: int = 1_000_000_000

    @property
    def is_path(self) -> bool:
        """Whether it is a file of this machine."""
        return not self.url.startswith(("http://", "https://"))

    @property
    def is_file(self) -> bool:
        """Whether it is a file, here or elsewhere, and no registry."""
        return self.is_path or _FILE.search(urlsplit(self.url).path) is not None

    @cached_property
    def _list(self) -> str:
        base = self.url.rstrip("/")
        return base if base.endswith("/servers") else f"{base}/v0.1/servers"

    def page(self, cursor: str, since: str) -> str:
        """Return the address of a page: the one at `cursor`, of what changed since `since` (RFC 3339), each if any."""
        asked = {"version": "latest", "limit": PAGE, "cursor": cursor, "updated_since": since}
        if since:
            asked["include_deleted"] = "true"
        return f"{self._list}?{urlencode({name: value for name, value in asked.items() if value})}"

    @property
    def question(self) -> str:
        """What is asked of whom; another one is followed from the beginning."""
        patterns = (*(f"+{each}" for each in self.include), *(f"-{each}" for each in self.exclude))
        return " ".join([self.url, *patterns, *(["official"] if self.official else [])])

    def takes(self, name: str) -> bool:
        """Return whether the entry called `name` is taken."""
        included = not self.include or any(fnmatchcase(name, pattern) for pattern in self.include)
        return included and not any(fnmatchcase(name, pattern) for pattern in self.exclude)
