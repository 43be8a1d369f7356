"""Measure the pages of a server on a data directory: bytes, and milliseconds from the request to the last byte.

    python -m bench.pages DATA_DIR github 地图 …

Each word is searched for (the first time as nobody had asked before, then as somebody has), then the page of every
server found is asked for, then those of a new account. Beside the time that passed stands the time that the server was
busy, all its threads, as Linux counts it for each: what else runs on the machine makes requests wait, which adds to the
first and not to the second. Passwords are hashed in threads and on purpose slowly, so signing in is not in the table.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import time
from http.client import HTTPConnection
from pathlib import Path
from statistics import median, quantiles
from time import perf_counter
from urllib.parse import quote, urlencode, urlsplit

from attrs import define, field, frozen

from ._contenders import Running, ours

COMMAND = Path(sys.executable).with_name("directory-server")
SETTINGS = {
    "WEB__SEARCH": "public",
    "WEB__PER_MINUTE": "1000000",
    "LOG__ACCESS": "off",
    "ACCOUNTS__KEYS": "50",
}


@frozen
class Taken:
    """What a page took, in milliseconds, and how large it is."""

    passed: float
    busy: float
    size: int


@define
class Browser:
    """Asks a server for pages, and keeps its cookie."""

    _running: Running
    _cookie: str = ""
    _connection: HTTPConnection = field(init=False)
    page: str = ""
    taken: Taken = Taken(0, 0, 0)

    def __attrs_post_init__(self) -> None:
        self._connection = HTTPConnection("127.0.0.1", self._running.port, timeout=60)

    def get(self, path: str) -> Taken:
        return self._ask("GET", path)

    def post(self, path: str, **fields: str) -> Taken:
        """Send a form, with the token that is on the page."""
        found = re.search(r'name="csrf" value="([^"]*)"', self.page)
        return self._ask("POST", path, urlencode({"csrf": found[1] if found else "", **fields}))

    def _ask(self, method: str, path: str, form: str | None = None) -> Taken:
        headers = {"Accept": "text/html", "Accept-Language": "zh", "Cookie": self._cookie}
        if form is not None:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        busy, began = self._busy(), perf_counter()
        self._connection.request(method, path, form, headers)
        response = self._connection.getresponse()
        body = response.read()
        passed = perf_counter() - began
        # The last of the threads that took part may still have to go to sleep.
        time.sleep(0.001)
        assert response.status in (200, 303), (path, response.status)
        self._cookie = (response.headers["Set-Cookie"] or self._cookie).partition(";")[0]
        self.page = body.decode() or self.page
        return Taken(passed * 1000, (self._busy() - busy) * 1000, len(body))

    def _busy(self) -> float:
        """Return the seconds that the server has spent on a processor (proc(5), schedstat)."""
        tasks = Path(f"/proc/{self._running.process}/task").glob("*/schedstat")
        return sum(int(each.read_text().split()[0]) for each in tasks) / 1e9


def row(name: str, taken: list[Taken]) -> str:
    passed, busy = [each.passed for each in taken], [each.busy for each in taken]
    p99 = quantiles(passed, n=100, method="inclusive")[98]
    return (
        f"{name:24} {len(taken):6} {median(passed):8.1f} {p99:8.1f} {max(passed):8.1f}"
        f" {median(busy):9.1f} {max(busy):9.1f} {max(each.size for each in taken):10,}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, metavar="DATA_DIR", help="a data directory with entries")
    parser.add_argument("words", nargs="+", help="what is searched for")
    options = parser.parse_args()
    folder, words = options.folder.absolute(), options.words
    os.environ |= {f"DIRECTORY_SERVER_{name}": value for name, value in SETTINGS.items()}
    email = f"bench-{time.time_ns()}@example.org"
    told = subprocess.run([COMMAND, "--data-dir", folder, "account", "add", email], capture_output=True, check=True)
    with ours(folder, None, stub=False) as running:
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
            "/?q=, again": [browser.get(path) for path in paths for _ in range(5)],
            "/servers/": [browser.get(path) for path in sorted(ids)],
            "/account/sign-in": [browser.get("/account/sign-in") for _ in range(50)],
        }
        invitation = urlsplit(told.stdout.decode().strip()).path
        browser.get(invitation)
        browser.post(invitation, password="correct horse battery")
        browser.get("/account/keys")
        # As many as a member may make at once.
        rows["/account/keys, a new one"] = [browser.post("/account/keys", label=f"key {each}") for each in range(9)]
        rows["/account/keys, nine"] = [browser.get("/account/keys") for _ in range(50)]
        rows["/account/connect"] = [browser.get("/account/connect") for _ in range(50)]
    print(f"{'milliseconds':31} {'passed':>8} {'':>17} {'busy':>9}")
    print(f"{'page':24} {'asked':>6} {'median':>8} {'p99':>8} {'most':>8} {'median':>9} {'most':>9} {'most bytes':>10}")
    for name, taken in rows.items():
        print(row(name, taken))


if __name__ == "__main__":
    main()
