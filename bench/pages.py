"""Measure the web pages of a server on a data directory: bytes, response time and CPU time in milliseconds.

    python -m bench.pages DATA_DIR github 地图 …

Each word is searched for, first with an empty page cache, then again. The pages of all servers found and of a new
account follow. "elapsed" is the time from the request to the last byte; other processes on the machine increase it.
"CPU" is the CPU time of all threads of the server. "sent" is the largest response as the server sends it to a browser,
"bytes" is the same page without compression.
Signing in is not in the table, because password hashes are slow on purpose.
"""

from __future__ import annotations

import argparse
import gzip
import re
import time
from http.client import HTTPConnection
from pathlib import Path
from statistics import median, quantiles
from time import perf_counter
from urllib.parse import quote, urlencode, urlsplit

from attrs import define, field, frozen

from .measurement.process_stats import CpuMeter
from .servers.launch import Running, directory_server, run_command

SETTINGS = {
    "WEB__SEARCH": "public",
    "WEB__PER_MINUTE": "1000000",
    "LOG__ACCESS": "off",
    "ACCOUNTS__KEYS": "50",
}


FILTERS = ("runs:local", "auth:key", "package:npm", "language:python", "official:true", "transport:http")


@frozen
class Sample:
    """The response time and the CPU time of one response in milliseconds, and its size in bytes.

    `sent` is the size as the server sends it to a client that accepts gzip.
    """

    elapsed: float
    cpu: float
    size: int
    sent: int


@define
class Browser:
    """An HTTP client that keeps a cookie. `page` is the last response's body."""

    _running: Running
    _cookies: dict[str, str] = field(factory=dict)
    _connection: HTTPConnection = field(init=False)
    page: str = ""

    def __attrs_post_init__(self) -> None:
        self._connection = HTTPConnection("127.0.0.1", self._running.port, timeout=60)

    def get(self, path: str) -> Sample:
        return self._send("GET", path)

    def post(self, path: str, **fields: str) -> Sample:
        """Send a form with the CSRF token of the last page."""
        found = re.search(r'name="csrf" value="([^"]*)"', self.page)
        return self._send("POST", path, urlencode({"csrf": found[1] if found else "", **fields}))

    def _send(self, method: str, path: str, form: str | None = None) -> Sample:
        cookie = "; ".join(f"{name}={value}" for name, value in self._cookies.items())
        headers = {"Accept": "text/html", "Accept-Encoding": "gzip", "Accept-Language": "zh", "Cookie": cookie}
        if form is not None:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        cpu, began = CpuMeter(self._running.processes), perf_counter()
        self._connection.request(method, path, form, headers)
        response = self._connection.getresponse()
        body = response.read()
        elapsed = perf_counter() - began
        # A thread of the server may still be ending its work.
        time.sleep(0.001)
        assert response.status in (200, 303), (path, response.status)
        for each in response.headers.get_all("Set-Cookie") or ():
            name, _, value = each.partition(";")[0].partition("=")
            self._cookies[name] = value
        sent = len(body)
        if response.headers["Content-Encoding"] == "gzip":
            body = gzip.decompress(body)
        self.page = body.decode() or self.page
        return Sample(elapsed * 1000, cpu.seconds() * 1000, len(body), sent)


def row(name: str, samples: list[Sample]) -> str:
    """Return a row of the table."""
    elapsed, cpu = [each.elapsed for each in samples], [each.cpu for each in samples]
    p99 = quantiles(elapsed, n=100, method="inclusive")[98]
    return (
        f"{name:24} {len(samples):8} {median(elapsed):8.1f} {p99:8.1f} {max(elapsed):8.1f}"
        f" {median(cpu):9.1f} {max(cpu):9.1f} {max(each.size for each in samples):10,}"
        f" {max(each.sent for each in samples):10,}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, metavar="DATA_DIR", help="a data directory with entries")
    parser.add_argument("words", nargs="+", help="queries")
    options = parser.parse_args()
    folder, words = options.folder.absolute(), options.words
    email = f"bench-{time.time_ns()}@example.org"
    _, link = run_command(folder, "account", "add", email)
    with directory_server(folder, settings=SETTINGS) as running:
        browser = Browser(running)
        browser.get("/")
        paths = [f"/?q={quote(word)}" for word in words]
        ids: set[str] = set()
        first = []
        for path in paths:
            first.append(browser.get(path))
            ids.update(re.findall(r"/servers/[0-9a-f-]{36}", browser.page))
        rows = {
            "/": [browser.get("/") for _ in range(50)],
            "/?q=, first": first,
            "/?q=, sorted": [browser.get(f"{path}&sort={sort}") for path in paths for sort in ("stars", "updated")],
            "/?q=, filtered": [browser.get(f"{path}+{each}") for path in paths for each in FILTERS],
            "/?q=, filters only": [browser.get(f"/?q={each}") for each in FILTERS],
            "/?sort=": [browser.get(f"/?sort={each}") for each in ("relevance", "stars", "updated") for _ in range(5)],
            "/feed.atom": [browser.get("/feed.atom") for _ in range(20)],
            "/feed.atom?q=": [browser.get(f"/feed.atom?q={quote(word)}") for word in words],
            "/?q=, again": [browser.get(path) for path in paths for _ in range(5)],
            "/servers/": [browser.get(path) for path in sorted(ids)],
            "/account/sign-in": [browser.get("/account/sign-in") for _ in range(50)],
        }
        invitation = urlsplit(link.strip()).path
        browser.get(invitation)
        browser.post(invitation, password="correct horse battery")
        browser.get("/account/keys")
        rows["/account/keys, new key"] = [browser.post("/account/keys", label=f"key {each}") for each in range(9)]
        rows["/account/keys, 9 keys"] = [browser.get("/account/keys") for _ in range(50)]
        for path in ("/account/connect", "/account/sessions", "/account/password", "/account/delete"):
            rows[path] = [browser.get(path) for _ in range(50)]
    print(f"{'milliseconds':33} {'elapsed':>8} {'':>17} {'CPU':>9}")
    print(
        f"{'page':24} {'requests':>8} {'median':>8} {'p99':>8} {'max':>8} {'median':>9} {'max':>9} {'max bytes':>10}"
        f" {'max sent':>10}"
    )
    for name, samples in rows.items():
        print(row(name, samples))


if __name__ == "__main__":
    main()
