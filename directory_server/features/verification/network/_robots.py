"""Rules of robots.txt (RFC 9309) that an operator of remotes addresses to this client."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from twisted.internet.defer import CancelledError, Deferred, TimeoutError

from ....domain.ports.runtime import Offload
from ....http_client import MAX_ROBOTS, BadResponse, RobotsRules, cancellable, robots_rules
from ._client import Client, decoded, target_of
from ._ending import Ended

MAX_INLINE_RULES = 20
"""Rules that are matched without a thread."""

MAX_CACHED = 2_000
"""Origins whose rules are kept."""

LIFETIME = 86_400.0
"""Seconds for which rules are kept (RFC 9309, section 2.4)."""

TIMEOUT = 10.0
"""Timeout of a robots.txt in seconds."""


class Robots:
    """The robots.txt of each origin, kept for LIFETIME seconds; `now` returns seconds."""

    def __init__(self, clock: Any, now: Callable[[], float], offload: Offload) -> None:
        self._offload = offload
        self._clock = clock
        self._now = now
        self._kept: OrderedDict[str, tuple[float, RobotsRules]] = OrderedDict()

    async def allow(self, client: Client, url: str) -> bool:
        """Return whether the robots.txt of `url` allows it. Raises Ended and the errors of the network.

        Only a rule in a robots.txt refuses: without a status of 2xx, within the bounds and in time, all is allowed.
        """
        target = target_of(url)
        until, rules = self._kept.get(target.origin, (0.0, RobotsRules()))
        if until <= self._now():
            rules = await self._load(client, target.origin)
            self._kept[target.origin] = (self._now() + LIFETIME, rules)
            self._kept.move_to_end(target.origin)
            while len(self._kept) > MAX_CACHED:
                self._kept.popitem(last=False)
        if len(rules.rules) <= MAX_INLINE_RULES:
            return rules.allow(target.url)
        return await self._offload(rules.allow, target.url)

    async def _load(self, client: Client, origin: str) -> RobotsRules:
        getting = client.get(f"{origin}/robots.txt", max_bytes=MAX_ROBOTS, accept="text/plain")
        fetching = Deferred.fromCoroutine(cancellable(getting))
        try:
            code, body = await fetching.addTimeout(TIMEOUT, self._clock)
        except (BadResponse, TimeoutError):
            return RobotsRules()
        except CancelledError:
            raise
        except Ended as error:
            if error.target:
                return RobotsRules()
            raise
        if not 200 <= code < 300:
            return RobotsRules()
        return await decoded(self._offload, robots_rules, body)
