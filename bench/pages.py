"""Measure the pages of a running server: bytes, and milliseconds from the request to the last byte.

    python -m bench.pages http://127.0.0.1:8080 github 地图 …

The server needs `web.search=public` and a `web.per_minute` that leaves room. Each word is searched for (the first time
as nobody had asked before, then as somebody has), and then the page of every server found is asked for.
"""

from __future__ import annotations

import re
import sys
from http.client import HTTPConnection
from statistics import median, quantiles
from time import perf_counter
from urllib.parse import quote, urlsplit

HEADERS = {"Accept": "text/html", "Accept-Language": "zh"}


def timed(connection: HTTPConnection, path: str) -> tuple[float, bytes]:
    """Return the milliseconds that a page took, and the page."""
    begin = perf_counter()
    connection.request("GET", path, headers=HEADERS)
    response = connection.getresponse()
    body = response.read()
    assert response.status == 200, (path, response.status)
    return (perf_counter() - begin) * 1000, body


def row(name: str, taken: list[tuple[float, bytes]]) -> str:
    times, sizes = [each for each, _ in taken], [len(body) for _, body in taken]
    p99 = quantiles(times, n=100)[98]
    return f"{name:24} {len(taken):6} {median(times):8.1f} {p99:8.1f} {max(times):8.1f} {max(sizes):10,}"


def main(url: str, *words: str) -> None:
    connection = HTTPConnection(urlsplit(url).netloc, timeout=60)
    timed(connection, "/")
    paths = [f"/?q={quote(word)}" for word in words]
    first = [timed(connection, path) for path in paths]
    again = [timed(connection, path) for path in paths for _ in range(5)]
    ids = sorted({found for _, body in first for found in re.findall(rb"/servers/[0-9a-f-]{36}", body)})
    entries = [timed(connection, found.decode()) for found in ids]
    print(f"{'page':24} {'asked':>6} {'median':>8} {'p99':>8} {'most ms':>8} {'most bytes':>10}")
    print(row("/", [timed(connection, "/") for _ in range(50)]))
    print(row("/?q=, first", first))
    print(row("/?q=, again", again))
    print(row("/servers/", entries))


if __name__ == "__main__":
    main(*sys.argv[1:])
