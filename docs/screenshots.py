"""Take screenshots from a running server with the sample catalogue.

    make screenshots                        those of README.md, and the picture of shared links
    python docs/screenshots.py --all DIR    every page, on a phone and a desktop, in light and dark, in both languages

It needs Chromium: the one of Playwright (`playwright install chromium`) or one on PATH.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from typing import Literal
from urllib.error import URLError
from urllib.request import urlopen

from playwright.sync_api import Browser, ViewportSize, sync_playwright

from directory_server.web.account import ConnectPage, KeyPages, SessionPages, SettingsPages

DOCS = Path(__file__).resolve().parent
PAGE = "/?q=read+and+write+my+calendar"
VIEWPORT: ViewportSize = {"width": 1120, "height": 760}
SIZES: dict[str, ViewportSize] = {
    "phone": {"width": 390, "height": 844},
    "desktop": {"width": 1280, "height": 900},
}
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
LOCALES = {"en": "en-GB", "zh": "zh-CN"}
PUBLIC = (
    *("/", "/?q=github", "/?q=runs:local&sort=stars", "/?sort=updated", "/?q=zzzzqqqq", "/?q=runs:nowhere"),
    *("/docs", "/docs/browse", "/docs/api", "/nowhere", "/account/sign-in", "/account/register"),
)
"""Pages that need no sign-in, beside those of an entry."""

COMMANDS = Path(sys.executable).parent
START = 60.0
"""Seconds to wait for the server."""


def main() -> None:
    """Serve the sample on a free port, and save the screenshots."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", type=Path, metavar="DIR", help="save screenshots of every page in this directory")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
        probe.close()
        url = f"http://127.0.0.1:{port}"
        settings = {
            "LISTEN": f"tcp:{port}:interface=127.0.0.1",
            "DATA_DIR": folder,
            "WEB__SEARCH": "public",
            "WEB__URL": url,
            "WEB__PER_MINUTE": "100000",
            "ACCOUNTS__REGISTRATION": "open",
        }
        environment = {**os.environ, **{f"DIRECTORY_SERVER_{name}": value for name, value in settings.items()}}
        _command(environment, "quickstart")
        server = [COMMANDS / "twistd", "--nodaemon", "--pidfile=", "--logfile=/dev/null", "directory"]
        with subprocess.Popen(server, env=environment) as process:
            try:
                _wait_for(url)
                if options.all is None:
                    _take(url)
                else:
                    link = _command(environment, "account", "add", "--role", "operator", "ada@example.org").strip()
                    options.all.mkdir(parents=True, exist_ok=True)
                    _take_all(url, link, options.all)
            finally:
                process.terminate()


def _command(environment: dict[str, str], *arguments: str) -> str:
    command = [COMMANDS / "directory-server", *arguments]
    return subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True, text=True).stdout


def _wait_for(url: str) -> None:
    end = time.monotonic() + START
    while True:
        try:
            urlopen(f"{url}/readyz", timeout=START).close()
            return
        except URLError:
            if time.monotonic() > end:
                raise
            time.sleep(0.1)


@contextmanager
def _chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        chromium = shutil.which("chromium") or shutil.which("chromium-browser")
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"] if chromium else [])
        yield browser
        browser.close()


def _take(url: str) -> None:
    with _chromium() as browser:
        for scheme in SCHEMES:
            page = browser.new_page(viewport=VIEWPORT, color_scheme=scheme)
            page.goto(url + PAGE)
            page.screenshot(path=DOCS / f"search-{scheme}.png")
        card = browser.new_page(viewport={"width": 1200, "height": 630})
        card.goto((DOCS / "card.html").as_uri())
        card.screenshot(path=DOCS.parent / "directory_server/web/pages/static/card.png")


def _take_all(url: str, link: str, folder: Path) -> None:
    """Save a screenshot of every page; `link` is that of an invitation."""
    with _chromium() as browser:
        visitor = browser.new_page()
        visitor.goto(f"{url}/?q=github")
        entry = str(visitor.locator("#results h3 a").first.get_attribute("href"))
        member = browser.new_page()
        member.goto(link)
        member.locator("#password").fill("correct horse battery")
        member.locator("form button[type=submit]").first.click()
        member.wait_for_url("**/account/keys")
        member.locator("#label").fill("laptop")
        member.locator("form[action='/account/keys'] button[type=submit]").click()
        cookies = member.context.cookies()
        own = [
            route.path
            for pages_of in (KeyPages, SettingsPages, SessionPages, ConnectPage)
            for route in pages_of.app.routes
            if route.method == "GET" and route.is_exact and route.path.startswith("/account/")
        ]
        pages = [*PUBLIC, entry, f"{entry}/report", *(each for each in own if each not in PUBLIC)]
        for (size, viewport), scheme, (language, locale) in product(SIZES.items(), SCHEMES, LOCALES.items()):
            for signed_in, paths in ((False, pages[: len(PUBLIC) + 2]), (True, pages[len(PUBLIC) + 2 :])):
                context = browser.new_context(viewport=viewport, color_scheme=scheme, locale=locale)
                context.add_cookies(cookies if signed_in else [])
                page = context.new_page()
                for path in paths:
                    page.goto(url + path)
                    page.screenshot(
                        path=folder / f"{_name(path, entry)}-{size}-{scheme}-{language}.png", full_page=True
                    )
                context.close()


def _name(path: str, entry: str) -> str:
    """Return the beginning of the names of the screenshots of a page."""
    return re.sub(r"[^a-z0-9]+", "-", path.replace(entry, "entry").lower()).strip("-") or "start"


if __name__ == "__main__":
    main()
