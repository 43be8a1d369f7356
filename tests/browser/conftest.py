"""Fixtures: a headless browser and a server."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

import pytest

from ..process.conftest import TIMEOUT, Installation, Server

BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")

_NUMBERS = count(1)

Open = Callable[..., Any]

Site = tuple[Installation, Server]


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """Return a headless Chromium; skip the test if none is installed."""
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        pytest.skip(f"no browser: none of {', '.join(BROWSERS)} is installed")
    playwright = pytest.importorskip("playwright.sync_api", reason="no browser: playwright is not installed")
    # The sandbox of Chromium does not run as root.
    arguments = ["--disable-gpu", "--disable-software-rasterizer", *(["--no-sandbox"] if os.geteuid() == 0 else [])]
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=found, args=arguments)
        yield browser
        browser.close()


def is_error(message: Any) -> bool:
    """Return whether a console message is an error, other than a failed request of a page."""
    failed_request = "Failed to load resource" in message.text and "/assets/" not in message.location["url"]
    return bool(message.type == "error" and not failed_request)


@pytest.fixture
def open_page(chromium: Any, site: Site) -> Iterator[Open]:
    """Return a function that opens a page in a new Playwright context; errors on the page fail the test."""
    contexts: list[Any] = []
    failures: list[str] = []

    def dismiss(dialog: Any) -> None:
        failures.append(dialog.message)
        dialog.dismiss()

    def opened(path: str, **options: Any) -> Any:
        # An address of its own: sign-ins per minute and address are limited.
        address = {"X-Forwarded-For": f"2001:db8:{next(_NUMBERS):x}::1"}
        context = chromium.new_context(
            base_url=site[1].url, **{"locale": "en-GB", "extra_http_headers": address, **options}
        )
        contexts.append(context)
        context.set_default_timeout(1_000 * TIMEOUT)
        page = context.new_page()
        page.on("pageerror", lambda error: failures.append(str(error)))
        page.on("dialog", dismiss)
        # Violations of the Content Security Policy are also reported on the console.
        page.on("console", lambda message: failures.append(message.text) if is_error(message) else None)
        page.goto(path)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert failures == []


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Return a data directory with the sample catalogue, and a server with public pages."""
    installation = Installation(tmp_path_factory.mktemp("site"))
    installation.command("quickstart")
    with installation.serve(
        "--set",
        "web.search=public",
        "--set",
        "web.per_minute=10000",
        "--set",
        "accounts.registration=open",
        "--set",
        "accounts.per_address=1000",
        "--set",
        "accounts.per_network=1000",
        "--set",
        "http.trusted_proxies=127.0.0.1",
    ) as server:
        yield installation, server
        server.stop()
