"""Run every console example of README.md and docs/ against a server with the sample catalogue."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from typing import IO

import pytest

from directory_server.domain.entries import OFFICIAL

from ..process.conftest import MCP, TIMEOUT, Installation, Server, entry_line, run_command, run_twistd, until
from ._examples import CHAPTERS, ROOT, Command, Example, examples, matches, stable

pytestmark = pytest.mark.process

WEATHER = {
    "name": "com.example/weather",
    "title": "Weather",
    "description": "Weather of tomorrow.",
    "version": "1.0.0",
    "websiteUrl": "https://weather.example.com",
}


DOCUMENTS = [ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md")), *CHAPTERS]
EXAMPLES = [each for path in DOCUMENTS if path.is_file() for each in examples(path)]

CHANGES = ("-N", "-iN", "resources/list")
"""Parts of commands whose output shows an entry that the test adds."""

_VARIABLE_HEADERS = re.compile(r"^(?:Date|X-Request-Id|Server): .*\r?\n", re.MULTILINE | re.IGNORECASE)


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Installation, Server]]:
    """Return a data directory with the sample catalogue, and its server."""
    installation = Installation(tmp_path_factory.mktemp("examples"))
    installation.command("quickstart")
    allowed = ["--set", "http.allowed_origins=https://app.example.org"]
    with installation.serve(*allowed) as server:
        yield installation, server
        server.stop()


@pytest.fixture
def sample_for_changes(tmp_path: Path) -> Iterator[tuple[Installation, Server]]:
    """Return a data directory with the sample catalogue, and its server, for one example that changes entries."""
    installation = Installation(tmp_path)
    installation.command("quickstart")
    (tmp_path / "weather.json").write_text(json.dumps(WEATHER))
    with installation.serve() as server:
        yield installation, server
        server.stop()


@pytest.fixture
def workspace(tmp_path: Path) -> Installation:
    """Return an empty data directory with the files that the examples of commands name."""
    installation = Installation(tmp_path)
    installation.command("key", "create", "--label", "first key")
    upstream = shutil.copy(ROOT / "directory_server" / "sample" / "servers.json", tmp_path / "upstream.json")
    (tmp_path / "entries.jsonl").write_text(entry_line("com.example/one") + '{"name": "a/b", "description": "B."}\n')
    (tmp_path / "directory-server.toml").write_text(
        f'data_dir = "{installation.data}"\n[web]\nurl = "https://directory.example.org"\n'
        f'[[upstream]]\nname = "official"\nurl = "{upstream}"\nofficial = true\n'
    )
    return installation


@pytest.mark.parametrize("example", EXAMPLES, ids=str)
def test_an_example_prints_what_the_document_shows(
    example: Example, sample: tuple[Installation, Server], request: pytest.FixtureRequest
) -> None:
    first = example.commands[0].text
    if not first.startswith(("curl", "python3")):
        run = _shell(request.getfixturevalue("workspace"), first)
    elif any(word in first for word in CHANGES):
        run = _curl(*request.getfixturevalue("sample_for_changes"))
    else:
        run = _curl(*sample)
    for command in example.commands:
        printed = run(command)
        if command.output:
            assert matches(command.output, printed), f"shown:\n{stable(command.output)}\n\nis:\n{stable(printed)}"


def test_examples_are_found() -> None:
    assert len(EXAMPLES) > 15


def _shell(installation: Installation, first: str) -> Callable[[Command], str]:
    for word, prepare in PREPARATION.items():
        if word in first:
            prepare(installation)
    return lambda command: _command(installation, command)


def _command(installation: Installation, command: Command) -> str:
    """Return what a command prints on both outputs. The key id of the document is replaced by a real one."""
    program, *arguments = shlex.split(_in_folder(command.text, installation.folder))
    if program == "twistd":
        output = run_twistd(*arguments, cwd=installation.folder).stdout
        return output.removeprefix("usage: ").strip()
    assert program == "directory-server"
    arguments = [_real_id(each, installation) for each in arguments]
    settings = [] if "--config" in arguments else ["--config", str(installation.folder / "directory-server.toml")]
    done = run_command(*settings, *arguments, cwd=installation.folder)
    return (done.stderr + done.stdout).replace(str(installation.folder), "")


def _in_folder(command: str, folder: Path) -> str:
    """Return `command` with the paths of a test in place of those of the documents."""
    for shown, real in {"/etc/": f"{folder}/", "/backup/": f"{folder}/backup/"}.items():
        command = command.replace(shown, real)
    return command.replace("/var/lib/directory-server", str(folder / "data"))


def _real_id(argument: str, installation: Installation) -> str:
    return installation.key_ids()[-1] if re.fullmatch(r"djf65ywu", argument) else argument


def _restore_backup(installation: Installation) -> None:
    """Make a backup, revoke a key and add another one, keep the newer database and restore the backup."""
    folder = installation.folder
    before = folder / "backup" / "before"
    before.mkdir(parents=True)
    installation.command("key", "create", "--label", "laptop")
    with closing(sqlite3.connect(installation.data / "directory.db")) as database:
        database.execute("VACUUM INTO ?", (str(folder / "backup" / "directory.db"),))
    installation.command("key", "revoke", installation.key_ids()[-1])
    installation.command("key", "create", "--label", "build server")
    with closing(sqlite3.connect(installation.data / "directory.db")) as database:
        database.execute("VACUUM INTO ?", (str(before / "directory.db"),))
    for each in installation.data.glob("directory.db*"):
        each.unlink()
    shutil.copy(folder / "backup" / "directory.db", installation.data)


PREPARATION: dict[str, Callable[[Installation], None]] = {
    "after-restore": _restore_backup,
}
"""Preparation of an example, by a part of its first command."""


def _curl(installation: Installation, server: Server) -> Callable[[Command], str]:
    key = installation.new_key()

    def run(command: Command) -> str:
        if "resources/list" in command.text:
            # A date in the future counts as the time of the import, after those of the sample.
            dated = installation.folder / "dated.json"
            meta = {OFFICIAL: {"publishedAt": "2100-01-01T00:00:00Z"}}
            dated.write_text(json.dumps({"server": WEATHER, "_meta": meta}))
            installation.command("import", dated)
            listing = {"jsonrpc": "2.0", "id": 1, "method": "resources/list"}
            # The list of new entries is loaded after the index.
            until(lambda: WEATHER["name"].encode() in server.request(MCP, key, listing).body, "the new entry")
        arguments = shlex.split(command.text.replace("$KEY", key))
        if arguments[0] == "python3":
            return subprocess.check_output([sys.executable, *arguments[1:]], text=True, timeout=TIMEOUT)
        return _send_request(installation, server.port, arguments[1:], command.output)

    return run


def _send_request(installation: Installation, port: int, arguments: list[str], shown: str) -> str:
    """Return what curl prints: with -i the head, then the body; of a stream, as many events as are shown."""
    options, flags, headers = _options(arguments)
    url = options[""].removeprefix("http://")
    host, _, path = url.partition("/")
    with closing(HTTPConnection("127.0.0.1", port, timeout=TIMEOUT)) as connection:
        headers = {"Host": host.replace("8080", str(port))} | headers
        connection.request(options.get("X", "POST" if "d" in options else "GET"), f"/{path}", options.get("d"), headers)
        assert connection.sock
        with connection.sock.makefile("rb") as reader:
            head = "".join(line.decode() for line in iter(reader.readline, b"\r\n"))
            if "text/event-stream" in head:
                body = _read_events(installation, reader, shown)
            else:
                length = re.search(r"Content-Length: (\d+)", head)
                body = reader.read(int(length[1])).decode() if length else ""
    head = _VARIABLE_HEADERS.sub("", head.replace("\r\n", "\n"))
    return f"{head}\n{body}" if "i" in flags else body


def _read_events(installation: Installation, reader: IO[bytes], shown: str) -> str:
    """Publish an entry once the stream is open; return as many events as the document shows."""
    body, expected = reader.readline().decode(), shown.count("\ndata:") + shown.startswith("data:")
    weather = installation.folder / "weather.json"
    weather.write_text(json.dumps(WEATHER))
    installation.command("import", weather)
    while body.count("\ndata:") < expected or not body.endswith("\n\n"):
        line = reader.readline().decode()
        assert line, body
        body += line
    return body


def _options(arguments: list[str]) -> tuple[dict[str, str], str, dict[str, str]]:
    """Return curl's options with values (the URL as ""), its flags and the headers."""
    options, flags, headers, rest = {}, "", {}, iter(arguments)
    for argument in rest:
        if argument == "-H":
            name, _, value = next(rest).partition(": ")
            headers[name] = value
        elif argument in ("-d", "-X"):
            options[argument[1:]] = next(rest)
        elif argument.startswith("-"):
            flags += argument[1:]
        else:
            options[""] = argument
    return options, flags, headers
