"""Registry process: `python -m tests.mirror.serve PORT ENTRIES [STALL]`.

It prints its port. It never responds to the first request with the cursor STALL, and prints `stalled` when it gets it.
"""

from __future__ import annotations

import sys
from typing import Any

from twisted.web.resource import Resource
from twisted.web.server import NOT_DONE_YET, Request, Site

from .registry import Registry, numbered_entries


class StallingRegistry(Resource):
    """Pass requests to `registry`, except the first one with `cursor`."""

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
    from twisted.internet import reactor as global_reactor

    reactor: Any = global_reactor
    registry = Registry(numbered_entries(int(entries)), page_size=100)
    site = Site(StallingRegistry(registry, stall))
    print(reactor.listenTCP(int(port), site, interface="127.0.0.1").getHost().port, flush=True)
    reactor.run()


if __name__ == "__main__":
    main(*sys.argv[1:])
