"""Rules of robots.txt (RFC 9309) that an operator of remotes addresses to this client."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from attrs import frozen
from twisted.internet.defer import CancelledError, Deferred, TimeoutError

from ....domain.ports.runtime import Offload
from ....http_client import BadResponse, cancellable
from ._client import Client, target_of
from ._ending import Ended

TOKEN = "directory-server"
"""The name of this client in robots.txt."""

MAX_ROBOTS = 65_536
"""Bytes of a robots.txt that are allowed; a longer one is ignored."""

MAX_INLINE = 4_096
"""Bytes of a robots.txt that is parsed without a thread."""

MAX_INLINE_RULES = 20
"""Rules that are matched without a thread."""

MAX_RULES = 1_000
"""Rules that are read of one robots.txt."""

MAX_PATTERN = 1_000
"""Characters of a rule that is read."""

MAX_CACHED = 2_000
"""Origins whose rules are kept."""

LIFETIME = 86_400.0
"""Seconds for which rules are kept (RFC 9309, section 2.4)."""

TIMEOUT = 10.0
"""Timeout of a robots.txt in seconds."""


@frozen
class Rules:
    """The rules of one client: pairs of a path pattern and whether it is allowed."""

    rules: tuple[tuple[str, bool], ...] = ()

    def allow(self, url: str) -> bool:
        """Return whether `url` may be requested: the longest matching pattern decides, of equal ones the allowing."""
        parts = urlsplit(url)
        path = _normal(parts.path or "/") + (f"?{_normal(parts.query)}" if parts.query else "")
        best = max(((len(pattern), allows) for pattern, allows in self.rules if _matches(pattern, path)), default=None)
        return best is None or best[1]


class Robots:
    """The robots.txt of each origin, kept for LIFETIME seconds; `now` returns seconds."""

    def __init__(self, clock: Any, now: Callable[[], float], offload: Offload) -> None:
        self._offload = offload
        self._clock = clock
        self._now = now
        self._kept: OrderedDict[str, tuple[float, Rules]] = OrderedDict()

    async def allow(self, client: Client, url: str) -> bool:
        """Return whether the robots.txt of `url` allows it. Raises Ended and the errors of the network.

        Only a rule in a robots.txt refuses: without a status of 2xx, within the bounds and in time, all is allowed.
        """
        target = target_of(url)
        until, rules = self._kept.get(target.origin, (0.0, Rules()))
        if until <= self._now():
            rules = await self._load(client, target.origin)
            self._kept[target.origin] = (self._now() + LIFETIME, rules)
            self._kept.move_to_end(target.origin)
            while len(self._kept) > MAX_CACHED:
                self._kept.popitem(last=False)
        if len(rules.rules) <= MAX_INLINE_RULES:
            return rules.allow(target.url)
        return await self._offload(rules.allow, target.url)

    async def _load(self, client: Client, origin: str) -> Rules:
        getting = client.get(f"{origin}/robots.txt", max_bytes=MAX_ROBOTS, accept="text/plain")
        fetching = Deferred.fromCoroutine(cancellable(getting))
        try:
            code, body = await fetching.addTimeout(TIMEOUT, self._clock)
        except (BadResponse, TimeoutError):
            return Rules()
        except CancelledError:
            raise
        except Ended as error:
            if error.target:
                return Rules()
            raise
        if not 200 <= code < 300:
            return Rules()
        return parse(body) if len(body) <= MAX_INLINE else await self._offload(parse, body)


def parse(body: bytes) -> Rules:
    """Return the rules for TOKEN in a robots.txt, those for all clients if there is none for TOKEN."""
    ours: list[tuple[str, bool]] = []
    others: list[tuple[str, bool]] = []
    is_named = False
    agents: set[str] = set()
    in_agents = False
    for name, value in _fields(body):
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
    return Rules(tuple(ours if is_named else others))


def _fields(body: bytes) -> Iterator[tuple[str, str]]:
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
