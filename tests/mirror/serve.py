"""`python -m tests.mirror.serve PORT ENTRIES [STALL]`: a registry in a process of its own, which prints its port.

It never answers the first request for the page at STALL, and says so in a second line.
"""

from __future__ import annotations

import sys
from typing import Any

from twisted.web.resource import Resource
from twisted.web.server import NOT_DONE_YET, Request, Site

from .registry import Registry, served


class Stalling(Resource):
    """Passes requests on to `registry`, all but one."""

    isLeaf = True

    def __init__(self, registry: Registry, cursor: str) -> None:
        super().__init__()
        self._registry = registry
        self._cursor: str | None = cursor

    def render_GET(self, request: Request) -> Any:
        if request.args.get(b"cursor", [b""])[0].decode() == self._cursor:
            self._cursor = None
            print("stalled", flush=True)
            return NOT_DONE_YET
        return self._registry.render_GET(request)


def main(port: str, entries: str, stall: str = "-") -> None:
    from twisted.internet import reactor as real

    reactor: Any = real
    registry = Registry([served(f"x/{each:05}") for each in range(int(entries))], size=100)
    site = Site(Stalling(registry, stall))
    print(reactor.listenTCP(int(port), site, interface="127.0.0.1").getHost().port, flush=True)
    reactor.run()


if __name__ == "__main__":
    main(*sys.argv[1:])
