"""A registry that serves a file of entries in pages of 100, and 200 of them as changed to those who name a moment.

`python -m bench._registry FILE` prints its port; GET /asked says how many pages it was asked for, and begins anew.
"""

from __future__ import annotations

import gzip
import sys
from typing import Any

import orjson
from twisted.web.resource import Resource
from twisted.web.server import Request, Site

PAGE = 100

CHANGED = 200


class Registry(Resource):
    isLeaf = True

    def __init__(self, file: str) -> None:
        super().__init__()
        with (gzip.open if file.endswith(".gz") else open)(file, "rb") as lines:
            entries = [line.strip() for line in lines]
        changed = [orjson.loads(line) for line in entries[:CHANGED]]
        for each in changed:
            each["server"]["description"] += " (changed)"
        self._pages = {b"": entries, b"since": [orjson.dumps(each) for each in changed]}
        self._asked = 0

    def render_GET(self, request: Request) -> bytes:
        if request.path == b"/asked":
            asked, self._asked = self._asked, 0
            return str(asked).encode()
        self._asked += 1
        entries = self._pages[b"since" if b"updated_since" in request.args else b""]
        start = int(request.args.get(b"cursor", [b"0"])[0])
        page, end = entries[start : start + PAGE], start + PAGE
        more = b',"nextCursor":"%d"' % end if end < len(entries) else b""
        return b'{"servers":[' + b",".join(page) + b'],"metadata":{"count":%d%b}}' % (len(page), more)


def main(file: str) -> None:
    from twisted.internet import reactor as real

    reactor: Any = real
    print(reactor.listenTCP(0, Site(Registry(file)), interface="127.0.0.1").getHost().port, flush=True)
    reactor.run()


if __name__ == "__main__":
    main(*sys.argv[1:])
