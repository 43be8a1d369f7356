"""The storages that `bench.cluster` compares: a data directory, and a database on a PostgreSQL server."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path

import psycopg
from attrs import frozen

from directory_server.config import load
from directory_server.features import sections
from directory_server.storage import Storage, command_environment, open_storage
from tests.engines import Engine, binaries

from ..measurement.process_stats import children, cpu_seconds
from .launch import PROJECT, SCRIPTS, Running, directory_server
from .storage_operations import Operations

SETTINGS = {"shared_buffers": "256MB", "max_connections": "200"}
"""Settings of the PostgreSQL server. It syncs each commit to the disk, which is its default."""


@frozen
class Cost:
    """Wall seconds, CPU seconds of our processes, and CPU seconds of the database server."""

    seconds: float
    cpu: float
    engine: float

    @property
    def text(self) -> str:
        """The seconds, for a table."""
        return f"{self.seconds:.1f} s, CPU {self.cpu:.1f}" + (f" + {self.engine:.1f} s" if self.engine else " s")


@frozen
class MeasuredStorage:
    """A storage; `settings` are environment variables of its processes without their prefix."""

    name: str
    folder: Path
    settings: Mapping[str, str]
    engine: Engine | None = None

    @property
    def environ(self) -> dict[str, str]:
        """The environment of processes that use the storage."""
        own = {name: value for name, value in os.environ.items() if not name.startswith("DIRECTORY_SERVER_")}
        return own | {f"DIRECTORY_SERVER_{name}": value for name, value in self.settings.items()}

    def engine_cpu(self) -> float:
        """Return the CPU seconds of the database server so far; 0 without one."""
        return 0.0 if self.engine is None else cpu_seconds([self.engine.pid, *children(self.engine.pid)])

    def cpu_text(self, ours: float, engine: float) -> str:
        """Return the CPU microseconds of our processes, and those of the database server if there is one."""
        return f"{ours:.0f} µs" if self.engine is None else f"{ours:.0f} + {engine:.0f} µs"

    def start(self) -> tuple[float, float, float]:
        """Return the wall seconds until a server responds, its CPU seconds, and those of the database server."""
        began, engine = time.monotonic(), self.engine_cpu()
        with self.serve() as server:
            return time.monotonic() - began, cpu_seconds(server.processes), self.engine_cpu() - engine

    def command(self, *words: str | Path) -> Cost:
        """Run `directory-server` until it exits."""
        began, engine, cpu = time.monotonic(), self.engine_cpu(), _children_cpu()
        command: list[str | Path] = [SCRIPTS / "directory-server", *words]
        subprocess.run(command, check=True, capture_output=True, env=self.environ, cwd=self.folder)
        return Cost(time.monotonic() - began, _children_cpu() - cpu, self.engine_cpu() - engine)

    def serve(self) -> AbstractContextManager[Running]:
        """Run a server on the storage."""
        return directory_server(self.folder, settings=self.settings)

    @contextmanager
    def opened(self) -> Iterator[Storage]:
        """Open the storage in this process, as a command does."""
        with closing(
            open_storage(load(file=None, environ=self.environ, settings=[], sections=sections()), command_environment())
        ) as storage:
            yield storage

    def charge(
        self, key_ids: Sequence[str], *, callers: int, seconds: float, processes: int = 1
    ) -> tuple[Sequence[Operations], float]:
        """Charge keys in `processes` processes at the same time.

        Return their results, and the CPU seconds of the database server meanwhile.
        """
        arguments = [sys.executable, "-m", "bench.servers.storage_operations", str(callers), str(seconds)]
        started = [
            subprocess.Popen(
                arguments, cwd=PROJECT, env=self.environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
            for _ in range(processes)
        ]
        try:
            for each in started:
                assert each.stdin is not None
                assert each.stdout is not None
                each.stdin.write(json.dumps(key_ids) + "\n")
                each.stdin.flush()
                if each.stdout.readline() != "ready\n":
                    raise SystemExit(f"{self.name}: a process that charges did not start")
            engine = self.engine_cpu()
            for each in started:
                assert each.stdin is not None
                each.stdin.write("go\n")
                each.stdin.flush()
            outcomes = [Operations(**json.loads(each.communicate()[0])) for each in started]
            return outcomes, self.engine_cpu() - engine
        finally:
            for each in started:
                each.kill()
                each.wait()


@contextmanager
def database_server() -> Iterator[Engine]:
    """Run a PostgreSQL server with an empty database. Exits with a message if none is installed."""
    found = binaries()
    if found is None:
        raise SystemExit("PostgreSQL is not installed: no initdb in $PG_BIN, PATH or /usr/lib/postgresql.")
    engine = Engine(found, durable=True, settings=SETTINGS)
    try:
        yield engine
    finally:
        engine.close()


def on_database(engine: Engine, folder: Path, name: str) -> MeasuredStorage:
    """Return the new database `name` of `engine`; its processes run in `folder`."""
    with psycopg.connect(engine.conninfo, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE template0 ENCODING 'UTF8'")
    return MeasuredStorage("PostgreSQL", folder, {"DATABASE": f"{engine.conninfo} dbname={name}"}, engine)


def in_folder(folder: Path) -> MeasuredStorage:
    """Return the data directory `folder`."""
    return MeasuredStorage("SQLite", folder, {"DATA_DIR": str(folder)})


def _children_cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
