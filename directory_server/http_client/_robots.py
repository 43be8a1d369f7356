"""Rules of robots.txt for this client (RFC 9309)."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import quote, unquote, urlsplit

from attrs import frozen

TOKEN = "directory-server"
"""The name of this client in robots.txt."""

MAX_ROBOTS = 65_536
"""Bytes of a robots.txt that are allowed; a longer one is ignored."""

MAX_RULES = 1_000
"""Rules that are read of one robots.txt."""

MAX_PATTERN = 1_000
"""Characters of a rule that is read."""


@frozen
class RobotsRules:
    """The rules of one client: pairs of a path pattern and whether it is allowed."""

    rules: tuple[tuple[str, bool], ...] = ()

    def allow(self, url: str) -> bool:
        """Return whether `url` may be requested: the longest matching pattern decides, of equal ones the allowing."""
        parts = urlsplit(url)
        path = _normal(parts.path or "/") + (f"?{_normal(parts.query)}" if parts.query else "")
        best = max(((len(pattern), allows) for pattern, allows in self.rules if _matches(pattern, path)), default=None)
        return best is None or best[1]


def robots_rules(body: bytes) -> RobotsRules:
    """Return the rules for TOKEN in a robots.txt, those for all clients if there is none for TOKEN."""
    ours: list[tuple[str, bool]] = []
    others: list[tuple[str, bool]] = []
    is_named = False
    agents: set[str] = set()
    in_agents = False
    for name, value in robots_fields(body):
        if name == "user-agent":
            agents = agents if in_agents else set()
            in_agents = True
            agents.add(value.lower())
            is_named = is_named or value.lower() == TOKEN
        elif name in ("allow", "disallow"):
            in_agents = False
            if not value or len(value) > MAX_PATTERN:
                continue
            rule = (_normal(value), name == "allow")
            if TOKEN in agents and len(ours) < MAX_RULES:
                ours.append(rule)
            if "*" in agents and len(others) < MAX_RULES:
                others.append(rule)
    return RobotsRules(tuple(ours if is_named else others))


def robots_fields(body: bytes) -> Iterator[tuple[str, str]]:
    """Yield the names, in lower case, and the values of the lines of a robots.txt."""
    for line in body.decode("utf-8", "replace").removeprefix("\ufeff").splitlines():
        name, colon, value = line.partition("#")[0].partition(":")
        if colon:
            yield name.strip().lower(), value.strip()


def _normal(path: str) -> str:
    """Return `path` with percent escapes in one form."""
    return quote(unquote(path, "latin-1"), safe="/*$?=&;:@!'(),+~%-._", encoding="latin-1", errors="replace")


def _matches(pattern: str, path: str) -> bool:
    """Return whether `path` begins with `pattern`, where "*" is any text and "$" at the end is the end.

    The time is at most the product of both lengths: each part is searched from the left once.
    """
    anchored = pattern.endswith("$")
    first, *parts = pattern.removesuffix("$").split("*")
    if not path.startswith(first):
        return False
    if not parts:
        return not anchored or len(path) == len(first)
    position = len(first)
    *middle, last = parts
    for part in middle:
        position = path.find(part, position)
        if position < 0:
            return False
        position += len(part)
    if anchored:
        return len(path) - len(last) >= position and path.endswith(last)
    return path.find(last, position) >= 0
