"""Modules that a server imports while it answers: each would block the reactor, and fail without a file descriptor."""

from __future__ import annotations

from pathlib import Path

import pytest

from .conftest import FOREGROUND, LISTEN, Installation, entry_line, environment, run_server, until

_HOOK = """
import os, sys
def write(event, arguments, output=open(os.environ["IMPORTED"], "a")):
    if event == "import":
        print(arguments[0], file=output, flush=True)
sys.addaudithook(write)
"""
_PAGES = ("/", "/?keywords=github", "/docs", "/docs/operations", "/account/sign-in", "/feed.atom", "/healthz")
_QUERIES = ("github", "send+an+email+but+not+by+gmail", "a+server+" * 150)


@pytest.mark.process
def test_requests_import_no_module(installation: Installation, tmp_path: Path) -> None:
    imported = tmp_path / "imported"
    (tmp_path / "sitecustomize.py").write_text(_HOOK)
    env = environment(PYTHONPATH=str(tmp_path), IMPORTED=str(imported), DIRECTORY_SERVER_WEB__SEARCH="public")
    installation.command("quickstart")
    key = installation.new_key("--limit", "unlimited")
    arguments = [*FOREGROUND, "directory", "-d", installation.data, "-l", LISTEN]
    with run_server(arguments, installation.folder, env) as server:
        # A thread loads tables and compiles templates before.
        until(lambda: server.request("/readyz").status == 200, "the server is ready")
        # Entries that a running server reads are a second segment of its index.
        installation.command("import", "-", stdin=entry_line("a.example/late", "A late server of github."))
        until(lambda: "a.example/late" in server.search_names("late", key), "the entry")
        assert "directory_server.search.impact_index" in imported.read_text().split()
        imported.write_text("")
        for query in _QUERIES:
            assert server.search(query, key).status == 200
        for page in _PAGES:
            assert server.request(page).status == 200, page
        assert not server.call_tool("search_mcp", {"keywords": "github"}, key)["isError"]
        assert imported.read_text().split() == []
