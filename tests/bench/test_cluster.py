"""The comparison of PostgreSQL with SQLite: its report, and a small run."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from bench.clients.rest_clients import arrival_times
from bench.reports.cluster_report import Row, table
from bench.servers.data_directory import create_keys
from bench.servers.measured_storages import in_folder
from bench.servers.stored_content import key_ids
from directory_server import sample
from directory_server.run_sync import run_sync

from .. import engines
from ..faults.conftest import full_run_only

ROOT = Path(__file__).parents[2]

LIMIT = 1_000_000_000


def test_table_has_a_line_for_each_row() -> None:
    rows = [Row("import", "1 s", "2 s", "≤ 1.2 × SQLite", reached=False), Row("charge", "", "5 ms")]
    assert list(table(rows)) == [
        "|        | SQLite | PostgreSQL | target         | reached |",
        "|--------|--------|------------|----------------|---------|",
        "| import | 1 s    | 2 s        | ≤ 1.2 × SQLite | NO      |",
        "| charge |        | 5 ms       |                |         |",
    ]


class Handler(BaseHTTPRequestHandler):
    """Sends two events of the change feed."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b'id: 1\ndata: {"name":"a/one"}\n\nid: 2\ndata: {"name":"a/two"}\n\n')
        self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def port() -> Iterator[int]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield server.server_port
        server.shutdown()
        thread.join()


def test_arrival_of_an_event(port: int) -> None:
    with arrival_times(port, "key") as arrived:
        assert 0 < arrived("a/one") <= arrived("a/two")


@pytest.mark.process
def test_operations_of_a_process(tmp_path: Path) -> None:
    create_keys(tmp_path, 3, None)
    storage = in_folder(tmp_path)
    with storage.opened() as opened:
        ids = key_ids(opened)
    (outcome,), engine = storage.charge(ids, callers=2, seconds=0.05)
    assert outcome.count > 2
    assert 0 < outcome.p50 <= outcome.p99
    assert engine == 0
    with storage.opened() as opened:
        # One more charge comes before the measurement.
        remaining = [run_sync(opened.quota.peek(each, LIMIT)).remaining for each in ids]
    assert sum(LIMIT - (each or 0) for each in remaining) == outcome.count + 1


@pytest.mark.process
@full_run_only
def test_small_run() -> None:
    engines.shared_engine()
    options = ["--seconds", "0.1", "--repeats", "1", "--keys", "100", "--only", "load"]
    done = subprocess.run(
        [sys.executable, "-m", "bench.cluster", "--entries", sample.path(), *options],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    rows = {line.split("|")[1].strip(): line.split("|")[2:] for line in done.stdout.splitlines()}
    assert all("/s" in rows["charge, new storage, 2 × 64 callers"][column] for column in (0, 1))
