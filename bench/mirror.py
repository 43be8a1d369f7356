"""What following a registry costs: the command beside a running server, and the server that does it by itself.

    python -m bench.mirror [FILE]
    python -m bench.mirror --chain [FILE]

serves FILE in pages of 100 as a registry does, and follows it into empty data directories: once by
`directory-server sync` beside a server that answers searches, once by the server itself. Then a round with 200 changes.
Searches come twenty times a second all the while. A turn is the time for which the server's reactor looks for nothing
new to do. The chain has a directory follow another one that imported FILE, and compares, byte by byte, the documents
that the registry APIs of both answer.
"""

from __future__ import annotations

import http.client
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from urllib.request import urlopen

import orjson

from ._judged import DATA
from ._servers import free_port
from .service import SCRIPTS, health, memory, row

PUBLIC = ("--set", "registry.access=public", "--set", "registry.per_minute=1000000")

WORDS = ("postgres", "weather", "send mail", "github", "browser", "日历")


def main(file: Path) -> None:
    with registry(file) as upstream:
        for who in ("command", "server"):
            with tempfile.TemporaryDirectory() as folder:
                measure(who, folder, upstream)


def measure(who: str, folder: str, upstream: int) -> None:
    config = Path(folder, "directory.toml")
    config.write_text(
        f'[[upstream]]\nname = "official"\nurl = "http://127.0.0.1:{upstream}"\ninterval = 60\nofficial = true\n'
    )
    key = command(folder, "key", "create", "--label", "bench", "--limit", "unlimited")[1].strip()
    port = free_port()
    with (
        serving(folder, port, config if who == "server" else None) as (server, turns),
        turning() as (_, control),
        searching(port, key) as searches,
    ):
        for name in ("all", "200 changes"):
            began, searches.seconds[:] = time.monotonic(), []
            if who == "command":
                _, said = command(folder, "--config", str(config), "sync")
                row(f"{who}: {name}, said", said.strip())
            else:
                until_asked(folder, name)
            row(f"{who}: {name}, seconds", f"{time.monotonic() - began:.1f}")
            row(f"{who}: {name}, requests", urlopen(f"http://127.0.0.1:{upstream}/asked").read().decode())
            row(f"{who}: {name}, searches", searches.said())
            row(f"{who}: {name}, turns", urlopen(f"http://127.0.0.1:{turns}/").read().decode())
            row(f"{who}: {name}, idle", urlopen(f"http://127.0.0.1:{control}/").read().decode())
            if who == "command":
                row(f"{who}: peak MB", f"{resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024:.0f}")
            row(f"{who}: server, peak MB", memory(server, "VmHWM"))
            row(f"{who}: server, entries", str(health(port)["entries"]))


def chain(file: Path) -> None:
    """Walk one directory through its registry API with another, and say how many documents are the same."""
    ports = free_port(), free_port()
    with (
        tempfile.TemporaryDirectory() as one,
        tempfile.TemporaryDirectory() as other,
        tempfile.TemporaryDirectory() as elsewhere,
    ):
        config = Path(elsewhere, "directory.toml")
        config.write_text(f'[[upstream]]\nname = "first"\nurl = "http://127.0.0.1:{ports[0]}"\n')
        command(one, "import", "--official", str(file))
        with serving(one, ports[0], None, *PUBLIC):
            seconds, said = command(other, "--config", str(config), "sync")
            row("chain: sync, said", said.strip())
            row("chain: sync, seconds", f"{seconds:.1f}")
            with serving(other, ports[1], None, *PUBLIC):
                first, second = map(documents, ports)
    same = sum(second.get(name) == document for name, document in first.items())
    row("chain: documents", f"{len(first):,} in the first, {len(second):,} in the second, {same:,} the same bytes")


def documents(port: int) -> dict[str, bytes]:
    """Return the document of every server, as the registry API at `port` answers it, by its name."""
    found, cursor = {}, ""
    while True:
        page = orjson.loads(urlopen(f"http://127.0.0.1:{port}/v0.1/servers?version=latest&limit=100{cursor}").read())
        found |= {each["server"]["name"]: orjson.dumps(each["server"]) for each in page["servers"]}
        if not page["metadata"].get("nextCursor"):
            return found
        cursor = f"&cursor={page['metadata']['nextCursor']}"


def until_asked(folder: str, name: str) -> None:
    """Wait until the server has taken a round; have the next be due at once."""
    from directory_server.run_sync import inline, run_sync
    from directory_server.sqlite import Database, SqliteMirrors

    database = Database(Path(folder), "directory")
    mirrors = SqliteMirrors(database, time.time, inline)
    state = run_sync(mirrors.get("official"))
    rounds = state.last_success
    while run_sync(mirrors.get("official")).last_success == rounds:
        time.sleep(0.1)
    database.close()


class Searches:
    """The time that each search took."""

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self.failed = 0

    def said(self) -> str:
        taken = sorted(self.seconds)
        return (
            f"{len(taken):,} answered, {self.failed} failed, median {1000 * taken[len(taken) // 2]:.1f} ms, "
            f"99% {1000 * taken[len(taken) * 99 // 100]:.0f} ms, longest {1000 * taken[-1]:.0f} ms"
        )


@contextmanager
def searching(port: int, key: str) -> Iterator[Searches]:
    """Search all the while, twenty times a second."""
    searches, ended = Searches(), threading.Event()

    def search() -> None:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        while not ended.wait(0.05):
            word = WORDS[len(searches.seconds) % len(WORDS)].encode().hex(" ").replace(" ", "%")
            began = time.monotonic()
            connection.request(
                "GET", f"/api/open/v1/search?keywords=%{word}", headers={"Authorization": f"Bearer {key}"}
            )
            answer = connection.getresponse()
            answer.read()
            searches.seconds.append(time.monotonic() - began)
            searches.failed += answer.status != 200

    thread = threading.Thread(target=search)
    thread.start()
    try:
        yield searches
    finally:
        ended.set()
        thread.join()


@contextmanager
def registry(file: Path) -> Iterator[int]:
    with subprocess.Popen(
        [sys.executable, "-m", "bench._registry", str(file)], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        try:
            yield int(process.stdout.readline())
        finally:
            process.kill()


def serving(folder: str, port: int, config: Path | None, *more: str) -> AbstractContextManager[tuple[int, int]]:
    """Serve `folder`; yield the process id, and the port at which it tells of its turns."""
    options = ["-d", folder, "-l", f"tcp:{port}:interface=127.0.0.1", *(["--config", str(config)] if config else [])]
    return turning(*options, *more)


@contextmanager
def turning(*options: str) -> Iterator[tuple[int, int]]:
    """Run a process that tells of its turns, a server if it is given options; yield its id, and the port for that."""
    with subprocess.Popen(
        [sys.executable, "-m", "bench._turns", *options], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        try:
            yield process.pid, int(process.stdout.readline())
        finally:
            process.kill()


def command(folder: str, *words: str) -> tuple[float, str]:
    """Return how long `directory-server` took, and what it printed."""
    began = time.monotonic()
    done = subprocess.run(
        [SCRIPTS / "directory-server", "--data-dir", folder, *words], check=True, capture_output=True, text=True
    )
    return time.monotonic() - began, done.stdout


if __name__ == "__main__":
    os.environ.pop("DIRECTORY_SERVER_CONFIG", None)
    _, *words = sys.argv
    files = [Path(word) for word in words if word != "--chain"] or [DATA / "entries.jsonl.gz"]
    (chain if "--chain" in words else main)(*files)
