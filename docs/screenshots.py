"""Take the screenshots of README.md from a running server with the sample catalogue: `make screenshots`.

It needs Chromium: the one of Playwright (`playwright install chromium`) or one on PATH.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

from playwright.sync_api import sync_playwright

DOCS = Path(__file__).resolve().parent
PAGE = "/?q=read+and+write+my+calendar"
VIEWPORT = {"width": 1120, "height": 760}
START = 60.0
"""Seconds to wait for the server."""


def main() -> None:
    """Serve the sample on a free port, and save a screenshot in light and in dark."""
    with tempfile.TemporaryDirectory() as folder, socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
        probe.close()
        url, commands = f"http://127.0.0.1:{port}", Path(sys.executable).parent
        environment = {
            **os.environ,
            "DIRECTORY_SERVER_LISTEN": f"tcp:{port}:interface=127.0.0.1",
            "DIRECTORY_SERVER_DATA_DIR": folder,
            "DIRECTORY_SERVER_WEB__SEARCH": "public",
        }
        quickstart = [commands / "directory-server", "quickstart"]
        subprocess.run(quickstart, env=environment, stdout=subprocess.DEVNULL, check=True)
        server = [commands / "twistd", "--nodaemon", "--pidfile=", "--logfile=/dev/null", "directory"]
        with subprocess.Popen(server, env=environment) as process:
            try:
                _wait_for(url)
                _take(url)
            finally:
                process.terminate()


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


def _take(url: str) -> None:
    with sync_playwright() as playwright:
        chromium = shutil.which("chromium") or shutil.which("chromium-browser")
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"] if chromium else [])
        for scheme in ("light", "dark"):
            page = browser.new_page(viewport=VIEWPORT, color_scheme=scheme)
            page.goto(url + PAGE)
            page.screenshot(path=DOCS / f"search-{scheme}.png")
        browser.close()


if __name__ == "__main__":
    main()
