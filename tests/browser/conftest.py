"""A real browser without a window, and a server for it to look at."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ..process.conftest import Installation, Server

BROWSERS = ("chromium", "chromium-browser", "google-chrome")

Open = Callable[..., Any]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)
            item.add_marker(pytest.mark.process)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """Return a headless Chromium, or skip where there is none."""
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        pytest.skip(f"no browser: none of {', '.join(BROWSERS)} is installed")
    playwright = pytest.importorskip("playwright.sync_api", reason="no browser: playwright is not installed")
    # Chromium refuses to run its sandbox as root.
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=found, args=arguments)
        yield browser
        browser.close()


def is_wrong(said: Any) -> bool:
    """Tell whether a message on the console is an error, other than that of a page which tells people of theirs."""
    refused = "Failed to load resource" in said.text and "/assets/" not in said.location["url"]
    return bool(said.type == "error" and not refused)


@pytest.fixture
def open_page(chromium: Any, served: tuple[Installation, Server]) -> Iterator[Open]:
    """Return what opens a page, in a browser of its own with options of Playwright; nothing may fail on it."""
    contexts: list[Any] = []
    failures: list[str] = []

    def refuse(dialog: Any) -> None:
        failures.append(dialog.message)
        dialog.dismiss()

    def opened(path: str, **options: Any) -> Any:
        context = chromium.new_context(base_url=served[1].url, **{"locale": "en-GB", **options})
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: failures.append(str(error)))
        page.on("dialog", refuse)
        # What the policy of the page forbids is told here, too.
        page.on("console", lambda said: failures.append(said.text) if is_wrong(said) else None)
        page.goto(path)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert failures == []


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Installation, Server]]:
    """Return a data directory with the sample catalogue, and a server whose pages are open to anybody."""
    installation = Installation(tmp_path_factory.mktemp("served"))
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
    ) as server:
        yield installation, server
        assert "Traceback" not in server.stop()
