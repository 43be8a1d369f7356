"""A PostgreSQL server, and server processes and commands that use its database."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from attrs import frozen
from click.testing import CliRunner, Result

from directory_server.command_line import main

from .. import engines
from ..engines import Engine
from ..process.conftest import FOREGROUND, LISTEN, TIMEOUT, Server, environment, run_server, until

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}

LIST_TOOLS = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}


@frozen
class Cluster:
    """A database, and the processes that use it. They share nothing else: each has a folder of its own."""

    engine: Engine
    folder: Path

    def run(self, *arguments: object, stdin: str | None = None) -> Result:
        """Run `directory-server` on the database."""
        settings = ["--set", f"database={self.engine.conninfo}"]
        return CliRunner().invoke(main, [*settings, *map(str, arguments)], input=stdin)

    def command(self, *arguments: object, stdin: str | None = None) -> str:
        """Run `directory-server`, which must succeed; return its standard output."""
        result = self.run(*arguments, stdin=stdin)
        assert result.exit_code == 0, result.output
        return result.stdout

    def new_key(self, *options: object) -> str:
        """Create a key with the `options` of `key create`; return its secret."""
        return self.command("key", "create", "--label", "test", *options).strip()

    @contextmanager
    def serve(self, name: str, *options: object, database: str = "") -> Iterator[Server]:
        """Run a server, as on the machine `name`; `database` is the connection string if it is another."""
        folder = self.folder / name
        folder.mkdir(exist_ok=True)
        settings = ["--set", f"streams.heartbeat={10 * TIMEOUT}"]
        variables = environment(DIRECTORY_SERVER_DATABASE=database or self.engine.conninfo)
        with run_server([*FOREGROUND, "directory", "-l", LISTEN, *settings, *options], folder, variables) as server:
            until(lambda: server.request("/readyz").status == 200, "readiness")
            yield server
            # All is in the database.
            assert not (folder / "data").exists()


@pytest.fixture(scope="session")
def engine() -> Iterator[Engine]:
    """Return the server of all tests that may stop it, but start it again."""
    engine = engines.new_engine()
    yield engine
    engine.close()


@pytest.fixture
def cluster(tmp_path: Path, engine: Engine) -> Cluster:
    """Return an empty database."""
    engine.renew()
    return Cluster(engine, tmp_path)


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory, engine: Engine) -> Iterator[tuple[Cluster, Server, Server]]:
    """Return a database, and two servers on it that all tests of the module share."""
    engine.renew()
    cluster = Cluster(engine, tmp_path_factory.mktemp("pair"))
    options = "--set", "publish.enabled=true"
    with cluster.serve("one", *options) as one, cluster.serve("two", *options) as two:
        yield cluster, one, two
        two.stop()
        one.stop()
