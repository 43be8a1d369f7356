"""A fleet of fake remotes of every outcome.

    python -m bench.servers.remote_fleet COUNT

serves COUNT remotes at loopback addresses, ten at each, and prints one JSON array per remote: its URL, its transport,
whether its entry declares required headers, and the status that a check must find. The first part of the path is the
kind of the remote. Silent and hostile kinds are one in twenty, others are spread evenly.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from typing import Any

from twisted.web.server import Site

from .fake_remotes import FakeRemotes
from .hostile_responses import HOSTILE

PER_ADDRESS = 10

WORKS = [
    "modern",
    "stateful",
    "stateful-events",
    "sessionless",
    "paged",
    "changing",
    "redirect-same",
    "no-tools",
    "sse",
    "old-transport",
    "sse-not",
    "sse-not-silent",
]

OUTCOMES = {
    **dict.fromkeys(WORKS, "works"),
    **dict.fromkeys(
        ["login-key", "login-oauth", "login-well-known", "login-bare", "login-forbidden", "payment", "tools-login"],
        "needs_login",
    ),
    **dict.fromkeys(["html", "not-found", "other-json", "rejecting", "redirect-loop", "sse-elsewhere"], "not_mcp"),
    **dict.fromkeys(["error-500", "closing", "cut"], "unreachable"),
    "busy": "busy",
    "redirect-away": "moved",
}

RARE = {
    "silent": "unreachable",
    **dict.fromkeys(HOSTILE, "not_mcp"),
    **dict.fromkeys(["gigantic", "endless-pages", "silent-discover"], "works"),
}
"""Kinds that cost a check most."""


def fleet(count: int, base: Callable[[int], str]) -> Iterator[tuple[str, str, bool, str]]:
    """Yield URL, transport, whether headers are needed, and the expected status of `count` remotes.

    `base` returns the origin for the number of an address.
    """
    common, rare = list(OUTCOMES.items()), list(RARE.items())
    for number in range(count):
        is_rare = number % 20 == 19
        kind, status = rare[number // 20 % len(rare)] if is_rare else common[number % len(common)]
        transport = "sse" if kind.startswith("sse") else "streamable-http"
        yield f"{base(number // PER_ADDRESS)}/{kind}/{number}", transport, False, status


def main(count: str) -> None:
    from twisted.internet import reactor as _reactor

    reactor: Any = _reactor
    origins: dict[int, str] = {}

    def listen(number: int) -> str:
        if number not in origins:
            address = f"127.1.{number // 250}.{number % 250 + 1}"
            port = reactor.listenTCP(0, Site(FakeRemotes(records=False)), interface=address).getHost().port
            origins[number] = f"http://{address}:{port}"
        return origins[number]

    for each in fleet(int(count), listen):
        print(json.dumps(each))
    sys.stdout.flush()
    reactor.run()


if __name__ == "__main__":
    main(*sys.argv[1:])
