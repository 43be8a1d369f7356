"""The marketplace of Claude Code, and the repository of its plugins."""

from __future__ import annotations

import re
import shutil
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from directory_server.domain.entries import Entry
from directory_server.features.marketplace.web import COMMIT, REFS, TEXT, upload_pack
from directory_server.runtime.run_sync import run_sync
from directory_server.serialization import restore_entry

from ...web.conftest import Server, entry

PATH = "/v0.1/claude/marketplace.json"

NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
"""Names of plugins and marketplaces that Claude Code accepts."""

REMOTE = entry("com.acme/mail", "Reads mail.", remotes=[{"type": "streamable-http", "url": "https://a.example/mcp"}])
KEYED = entry(
    "com.acme/database",
    "Queries a database.",
    packages=[
        {
            "registryType": "npm",
            "identifier": "@acme/database",
            "version": "1.2.3",
            "transport": {"type": "stdio"},
            "environmentVariables": [{"name": "DATABASE_TOKEN", "isSecret": True, "isRequired": True}],
        }
    ],
)
INCOMPLETE = entry(
    "com.acme/host",
    remotes=[
        {
            "type": "streamable-http",
            "url": "https://{host}.example/mcp",
            "variables": {"host": {"isRequired": True, "description": "Your host."}},
        }
    ],
)


MAIL = f"com-acme-mail-{REMOTE.mcp_id.replace('-', '')[-16:]}"
DATABASE = f"com-acme-database-{KEYED.mcp_id.replace('-', '')[-16:]}"

SAME_SLUG = [
    *("io.github.acme/tools-x", "io.github.acme-tools/x", "io.github.acme/tools_x", "io.github.acme/tools.x"),
    *("IO.github.acme/Tools-X", "io.github.acme/tools--x-", "io.github.acme.tools/x", f"a.b/{'x' * 100}"),
    *(f"a.b/{'x' * 101}", f"a-b/{'x' * 100}", "日本/語", "日本/话"),
]


def plugins(server: Server, path: str = PATH, **options: Any) -> dict[str, Any]:
    found = server.get(path, key=None, **options).json
    assert NAME.fullmatch(found["name"])
    assert found["owner"]["name"]
    names = [plugin["name"] for plugin in found["plugins"]]
    assert len(names) == len(set(names))
    assert all(map(NAME.fullmatch, names)), names
    return {plugin["name"]: plugin for plugin in found["plugins"]}


def test_each_entry_that_can_be_installed_is_a_plugin(server: Server) -> None:
    server.publish(REMOTE, KEYED, INCOMPLETE)
    found = plugins(server)
    assert found.keys() == {MAIL, DATABASE}
    assert found[MAIL] == {
        "name": MAIL,
        "description": "Reads mail.",
        "version": "1.0.0",
        "author": {"name": "com.acme"},
        "source": {"source": "url", "url": "http://localhost/v0.1/claude/plugin.git"},
        "strict": False,
        "mcpServers": {"mail": {"type": "http", "url": "https://a.example/mcp"}},
    }


def test_the_configuration_is_that_of_the_page_of_an_entry(server: Server) -> None:
    server.publish(KEYED)
    (configured,) = plugins(server)[DATABASE]["mcpServers"].values()
    assert configured["command"] == "npx"
    assert configured["args"] == ["-y", "@acme/database@1.2.3"]
    (variable,) = configured["env"].values()
    page = server.get(f"/servers/{KEYED.mcp_id}?editor=claude-code", key=None).body.decode()
    assert variable.strip("${}") in page
    assert "npx" in page


def test_a_query_selects_entries_and_gives_the_marketplace_another_name(server: Server) -> None:
    server.publish(REMOTE, KEYED)
    assert plugins(server, f"{PATH}?q=mail").keys() == {MAIL}
    assert plugins(server, f"{PATH}?q=namespace:com.acme").keys() == {MAIL, DATABASE}
    assert len(plugins(server, f"{PATH}?limit=1")) == 1
    names = {server.get(path, key=None).json["name"] for path in (PATH, f"{PATH}?q=mail", f"{PATH}?q=database")}
    assert len(names) == 3


def test_wrong_parameters_are_rejected(server: Server) -> None:
    for query in ("limit=0", "limit=101", "limit=x", "page=2", "q=a&q=b", "q=" + "x" * 5_000):
        assert server.get(f"{PATH}?{query}", key=None).status == 400, query


def test_hostile_entries_stay_inside_of_their_strings(server: Server) -> None:
    remotes = [{"type": "streamable-http", "url": "https://a.example/${HOME}"}]
    safe = [{"type": "streamable-http", "url": "https://a.example/mcp"}]
    server.publish(
        entry("../../etc/passwd", "\x1b[2J\u202e<b>", remotes=safe),
        entry("a.b/c", remotes=safe),
        entry("a-b/c", remotes=safe),
        entry("日本/語", remotes=safe),
        entry("x/reference", remotes=remotes),
        Entry({"name": "x/odd", "version": "1" * 500, "description": "x" * 9_000, "remotes": safe, "hooks": {"a": 1}}),
    )
    found = plugins(server)
    assert len(found) == 5
    assert sum(name.startswith("etc-passwd-") for name in found) == 1
    assert not any(name.startswith("x-reference") for name in found)
    for plugin in found.values():
        assert plugin.keys() <= {
            *("name", "description", "version", "author", "homepage", "source", "strict", "mcpServers"),
        }
        assert plugin["description"].isprintable()
        assert len(plugin["description"]) < 1_000


def test_the_size_is_bounded(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("directory_server.features.marketplace.web.MAX_BYTES", 500)
    server.publish(REMOTE, KEYED)
    assert len(plugins(server)) == 1


def test_the_name_of_a_plugin_depends_on_the_name_of_its_entry_only(server: Server) -> None:
    entries = [
        entry(name, remotes=[{"type": "streamable-http", "url": f"https://{number}.example/mcp"}])
        for number, name in enumerate(SAME_SLUG)
    ]
    server.publish(*entries)
    orders = [entries, entries[::-1], entries[3:] + entries[:3], entries[::2], entries[5:6]]
    urls: dict[str, str] = {}
    for chosen in orders:
        # Each is in its order of the ranking: those that are not chosen are hidden, the others have other texts.
        for one in entries:
            run_sync(server.application.storage.curation.mark(one.name, "hidden", one not in chosen))
        for number, one in enumerate(chosen):
            server.publish(Entry({**one.server, "description": "mail " * (number + 1)}))
        found = plugins(server, f"{PATH}?q=mail&limit=100")
        assert len(found) == len(chosen)
        for name, plugin in found.items():
            (configured,) = plugin["mcpServers"].values()
            assert urls.setdefault(name, configured["url"]) == configured["url"]
            assert len(name) <= 64
    assert len(urls) == len(set(urls.values())) == len(SAME_SLUG)


def test_a_document_is_read_once(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    read = []
    monkeypatch.setattr(
        "directory_server.features.marketplace.web.restore_entry",
        lambda body: read.append(body) or restore_entry(body),  # type: ignore[func-returns-value]
    )
    server.publish(REMOTE, KEYED, INCOMPLETE)
    assert plugins(server) == plugins(server)
    assert plugins(server, f"{PATH}?q=mail").keys() == {MAIL}
    first = len(read)
    assert first == len(set(read))
    server.publish(Entry({**REMOTE.server, "version": "2.0.0"}))
    assert plugins(server)[MAIL]["version"] == "2.0.0"
    assert len(read) == first + 1
    monkeypatch.setattr("directory_server.features.marketplace.web.MAX_CACHED", 1)
    assert plugins(server).keys() >= {MAIL, DATABASE}


def test_twenty_entries_are_looked_at_by_default(server: Server) -> None:
    remotes = [{"type": "streamable-http", "url": "https://a.example/mcp"}]
    server.publish(*(entry(f"com.acme/mail{number}", remotes=remotes) for number in range(25)))
    path = f"{PATH}?q=namespace:com.acme"
    assert (len(plugins(server, path)), len(plugins(server, f"{path}&limit=100"))) == (20, 25)


@pytest.mark.registry("key", False)
def test_it_needs_what_the_registry_api_needs(server: Server) -> None:
    assert server.get(PATH, key=None).status == 401
    response = server.get(PATH)
    assert (response.status, response.headers["Cache-Control"]) == (200, "private, max-age=60")
    # Git sends no key. The repository is the same everywhere.
    assert server.get("/v0.1/claude/plugin.git/info/refs?service=git-upload-pack", key=None).body == REFS


@pytest.mark.registry("secret-path", False)
def test_it_is_below_the_secret_path(server: Server) -> None:
    server.publish(REMOTE)
    _, secret = run_sync(server.application.storage.people.registry_tokens.create("x"))
    assert plugins(server, f"/r/{secret}{PATH}")
    assert server.get(PATH, key=None).status == 404


@pytest.mark.registry("off", False)
def test_without_the_registry_api_there_is_nothing(server: Server) -> None:
    assert server.get(PATH).status == 404
    assert server.get("/v0.1/claude/plugin.git/info/refs").status == 404


@pytest.mark.registry("public", True)
def test_only_curated_entries_if_these_are_listed(server: Server) -> None:
    run_sync(server.directory.publish("other", [KEYED]))
    server.publish(REMOTE)
    assert plugins(server).keys() == {MAIL}


class Git(BaseHTTPRequestHandler):
    """Serves the repository."""

    def do_GET(self) -> None:
        self._send(REFS, "advertisement")

    def do_POST(self) -> None:
        self._send(upload_pack(self.rfile.read(int(self.headers["Content-Length"]))), "result")

    def _send(self, body: bytes, kind: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", f"application/x-git-upload-pack-{kind}")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing."""


@pytest.fixture
def git_url() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Git) as serving:
        threading.Thread(target=serving.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{serving.server_address[1]}/plugin.git"
        serving.shutdown()


@pytest.mark.skipif(shutil.which("git") is None, reason="no git")
@pytest.mark.parametrize("options", [[], ["--depth", "1"], ["--depth", "1", "--branch", "main"]])
def test_git_clones_the_repository(git_url: str, tmp_path: Path, options: list[str]) -> None:
    environ = {"PATH": "/usr/bin:/bin:/usr/local/bin", "GIT_TERMINAL_PROMPT": "0", "HOME": str(tmp_path)}
    target = tmp_path / "clone"

    def git(*arguments: str) -> str:
        return subprocess.run(
            ["git", *arguments], env=environ, check=True, capture_output=True, text=True, timeout=60
        ).stdout.strip()

    git("clone", *options, git_url, str(target))
    assert git("-C", str(target), "rev-parse", "HEAD") == COMMIT.decode()
    git("-C", str(target), "fsck", "--strict", "--no-dangling")
    # Claude Code copies the files of a plugin, and rejects an update without any.
    assert sorted(each.name for each in target.iterdir()) == [".git", "README.md"]
    assert (target / "README.md").read_bytes() == TEXT
