"""Checks by the server and by the command, of fake remotes in another process."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from .conftest import Installation, run_command, until

pytestmark = pytest.mark.process

ROOT = Path(__file__).parent.parent.parent

EXPECTED = {
    "modern": "works",
    "stateful": "works",
    "gigantic": "works",
    "login-oauth": "needs_login",
    "html": "failing",
    "not-found": "failing",
}
"""Kinds of fake remotes, and the status of an entry with such a remote."""

SETTINGS = ("verify.allowed_networks=127.0.0.0/8", "verify.per_minute=6000", "verify.per_host=6000")


@pytest.fixture(scope="module")
def origin() -> Iterator[str]:
    """Return the origin of fake remotes that all tests of the module share."""
    program = (
        "from twisted.internet import reactor\n"
        "from twisted.web.server import Site\n"
        "from tests.features.verification.remotes.fake_remotes import FakeRemotes\n"
        "port = reactor.listenTCP(0, Site(FakeRemotes()), interface='127.0.0.1')\n"
        "print(port.getHost().port, flush=True)\n"
        "reactor.run()\n"
    )
    with subprocess.Popen([sys.executable, "-c", program], cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield f"http://127.0.0.1:{int(process.stdout.readline())}"
        finally:
            process.kill()


def name(kind: str) -> str:
    return f"io.example/{kind}"


def published(installation: Installation, origin: str) -> None:
    """Import an entry for each kind of fake remote."""
    lines = [
        json.dumps(
            {
                **{"name": name(kind), "description": f"Kind {kind}.", "version": "1.0.0"},
                "remotes": [{"type": "streamable-http", "url": f"{origin}/{kind}"}],
            }
        )
        for kind in EXPECTED
    ]
    installation.command("import", "-", stdin="\n".join(lines) + "\n")


def verify(installation: Installation, *arguments: str, settings: tuple[str, ...] = SETTINGS) -> tuple[int, str, str]:
    """Run the command in a process, because it runs a reactor; return exit code, output and errors."""
    options = [text for each in settings for text in ("--set", each)]
    done = run_command("--data-dir", installation.data, *options, "verify", *arguments, cwd=installation.folder)
    return done.returncode, done.stdout, done.stderr


def test_the_server_checks_what_is_due(installation: Installation, origin: str) -> None:
    published(installation, origin)
    key = installation.new_key("--limit", "unlimited")
    options = [text for each in (*SETTINGS, "verify.remotes=true") for text in ("--set", each)]
    with installation.serve(*options) as server:

        def statuses() -> dict[str, str]:
            page = server.request("/api/open/v1/search?keywords=kind&fields=server_name,verified", key)
            return {hit["server_name"]: hit["verified"] for hit in page.json["data"]}

        expected = {name(kind): status for kind, status in EXPECTED.items()}
        until(lambda: statuses() == expected, "all remotes have been checked")
        # A tool that only the remote has named is found.
        assert "fake" not in str(server.search_names("weather_1", key))
        assert name("modern") in server.search_names("weather_1", key)
        server.stop()


def test_private_addresses_are_not_reached_by_default(installation: Installation, origin: str) -> None:
    published(installation, origin)
    code, output, _ = verify(installation, name("modern"), settings=())
    assert code == 0
    assert "not_allowed" in output
