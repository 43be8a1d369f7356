"""Measure the sync with an upstream registry, by the command and by the server, beside searches.

    python -m bench.mirror [FILE]
    python -m bench.mirror --chain [FILE]

serves FILE as a registry in pages of 100 entries and syncs it into empty data directories: once with
`directory-server sync` beside a server, once by the server itself. An incremental sync with 200 changes follows. A
client searches 20 times per second meanwhile. The seconds of a sync by the server begin with its first request. A
turn is the time during which the server's reactor handles no new event; "reference" is the same for an empty reactor.
With `--chain`, a directory that imported FILE is the upstream of another one, and the documents that both registry APIs
return are compared byte by byte.
"""

from __future__ import annotations

import argparse
import http.client
import os
import resource
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Literal
from urllib.parse import quote
from urllib.request import urlopen

import orjson

from directory_server.domain.upstreams import UpstreamState
from directory_server.run_sync import inline, run_sync
from directory_server.sqlite import Database, SqliteMirrors

from .catalogue.files import REAL
from .measurement.process_stats import peak_memory
from .servers.data_directory import create_keys
from .servers.fake_upstreams import registry
from .servers.launch import free_port, health, run_command
from .servers.reactor_turns import measured_process

PUBLIC = ("--set", "registry.access=public", "--set", "registry.per_minute=1000000")

WORDS = ("postgres", "weather", "send mail", "github", "browser", "日历")


def sync(file: Path) -> None:
    """Measure the sync by the command and by the server."""
    with registry(file) as upstream:
        for by in ("command", "server"):
            with tempfile.TemporaryDirectory() as folder:
                measure(by, Path(folder), upstream)


def measure(by: Literal["command", "server"], folder: Path, upstream: int) -> None:
    """Measure a full and an incremental sync from the registry at the port `upstream`."""
    config = folder / "directory.toml"
    config.write_text(
        f'[[upstream]]\nname = "official"\nurl = "http://127.0.0.1:{upstream}"\ninterval = 60\nofficial = true\n'
    )
    (key,) = create_keys(folder, 1, None)
    port = free_port()
    with (
        measured_server(folder, port, config if by == "server" else None) as (server, turns),
        measured_process() as (_, reference),
        searching(port, key) as searches,
    ):
        state = None
        for name in ("full", "incremental"):
            if by == "command":
                seconds, report = run_command(folder, "--config", str(config), "sync")
                row(f"{by}: {name}, report", report.strip())
            else:
                if state is not None:
                    # Measure nothing of the interval between two sync runs.
                    time.sleep(max(0.0, state.next_run - time.time() - 1))
                    for measured, path in ((turns, "/"), (reference, "/"), (upstream, "/requests")):
                        read(measured, path)
                    searches.seconds.clear()
                state = wait_for_sync(folder, state)
            requests, first = read(upstream, "/requests").decode().split()
            if state is not None:
                seconds = (state.last_success or 0) - float(first)
            row(f"{by}: {name}, seconds", f"{seconds:.1f}")
            row(f"{by}: {name}, requests", requests)
            row(f"{by}: {name}, searches", searches.summary())
            row(f"{by}: {name}, turns", read(turns, "/").decode())
            row(f"{by}: {name}, reference", read(reference, "/").decode())
            searches.seconds.clear()
            if by == "command":
                row(f"{by}: peak MB", f"{resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024 / 1e6:.0f}")
            row(f"{by}: server, peak MB", f"{peak_memory(server) / 1e6:.0f}")
            row(f"{by}: server, entries", str(health(port)["entries"]))


def chain(file: Path) -> None:
    """Sync one directory from another one, and compare the documents of both."""
    ports = free_port(), free_port()
    with (
        tempfile.TemporaryDirectory() as one,
        tempfile.TemporaryDirectory() as other,
        tempfile.TemporaryDirectory() as elsewhere,
    ):
        config = Path(elsewhere, "directory.toml")
        config.write_text(f'[[upstream]]\nname = "first"\nurl = "http://127.0.0.1:{ports[0]}"\n')
        run_command(Path(one), "import", "--official", str(file))
        with measured_server(Path(one), ports[0], None, *PUBLIC):
            seconds, report = run_command(Path(other), "--config", str(config), "sync")
            row("chain: sync, report", report.strip())
            row("chain: sync, seconds", f"{seconds:.1f}")
            with measured_server(Path(other), ports[1], None, *PUBLIC):
                first, second = map(documents, ports)
    same = sum(second.get(name) == document for name, document in first.items())
    row("chain: documents", f"{len(first):,} in the first, {len(second):,} in the second, {same:,} are equal")


def documents(port: int) -> dict[str, bytes]:
    """Return the documents that the registry API at `port` returns, by name."""
    found: dict[str, bytes] = {}
    cursor = ""
    while True:
        page = orjson.loads(read(port, f"/v0.1/servers?version=latest&limit=100{cursor}"))
        found |= {each["server"]["name"]: orjson.dumps(each["server"]) for each in page["servers"]}
        if not page["metadata"].get("nextCursor"):
            return found
        cursor = f"&cursor={page['metadata']['nextCursor']}"


def read(port: int, path: str) -> bytes:
    """Return the body of a response."""
    with urlopen(f"http://127.0.0.1:{port}{path}") as response:
        return bytes(response.read())


def wait_for_sync(folder: Path, before: UpstreamState | None) -> UpstreamState:
    """Wait until the server has completed a sync run after that of the state `before`; return its state."""
    database = Database(folder, "directory")
    mirrors = SqliteMirrors(database, time.time, inline)
    last = before.last_success if before is not None else None
    while (state := run_sync(mirrors.get("official"))).last_success == last:
        time.sleep(0.1)
    database.close()
    return state


class Searches:
    """The response times of the searches, in seconds, and the number of failed ones."""

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self.failed = 0

    def summary(self) -> str:
        times = sorted(self.seconds)
        if not times:
            return "none"
        return (
            f"{len(times):,} responses, {self.failed} failed, median {1000 * times[len(times) // 2]:.1f} ms, "
            f"p99 {1000 * times[len(times) * 99 // 100]:.0f} ms, maximum {1000 * times[-1]:.0f} ms"
        )


@contextmanager
def searching(port: int, key: str) -> Iterator[Searches]:
    """Search 20 times per second until the end of the block."""
    searches, ended = Searches(), threading.Event()

    def search() -> None:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        while not ended.wait(0.05):
            words = quote(WORDS[len(searches.seconds) % len(WORDS)])
            began = time.monotonic()
            headers = {"Authorization": f"Bearer {key}"}
            connection.request("GET", f"/api/open/v1/search?keywords={words}", headers=headers)
            response = connection.getresponse()
            response.read()
            searches.seconds.append(time.monotonic() - began)
            searches.failed += response.status != 200

    thread = threading.Thread(target=search)
    thread.start()
    try:
        yield searches
    finally:
        ended.set()
        thread.join()


def measured_server(
    folder: Path, port: int, config: Path | None, *more: str
) -> AbstractContextManager[tuple[int, int]]:
    """Serve `folder`; yield the process id and the port that returns the turns."""
    files = ["--config", str(config)] if config else []
    return measured_process("-d", str(folder), "-l", f"tcp:{port}:interface=127.0.0.1", *files, *more)


def row(name: str, value: str) -> None:
    print(f"{name:<32}{value}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "file", type=Path, nargs="?", default=REAL, metavar="FILE", help="gzipped JSON Lines of entries"
    )
    parser.add_argument("--chain", action="store_true", help="compare a directory with a copy of it")
    options = parser.parse_args()
    os.environ.pop("DIRECTORY_SERVER_CONFIG", None)
    (chain if options.chain else sync)(options.file)


if __name__ == "__main__":
    main()
