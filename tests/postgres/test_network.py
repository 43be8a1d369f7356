"""The session over a network: answers in pieces, connections that are cut in an answer, TLS."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from twisted.internet.defer import Deferred, gatherResults

from directory_server.domain.errors import Unavailable
from directory_server.postgres import Database, Session
from directory_server.runtime.threads import Offload

from .. import engines
from ..contract import awaited
from ..engines import Engine
from ..ports import free_port
from ..process._certificates import holder
from ._wire import Wire


@asynccontextmanager
async def session_to(conninfo: str) -> AsyncIterator[Session]:
    from twisted.internet import reactor

    offload = Offload(reactor)
    database = Database(conninfo, offload)
    session = Session(database, reactor)
    session.startService()
    try:
        yield session
    finally:
        session.stopService()
        database.close()


@pytest.fixture
def wire(engine: Engine) -> Iterator[Wire]:
    wire = Wire(str(engine.folder / ".s.PGSQL.5432"))
    yield wire
    wire.close()


@awaited
async def test_answers_may_come_byte_by_byte(wire: Wire) -> None:
    async with session_to(wire.conninfo) as session:
        await session.run("SELECT 1")
        wire.pieces = 1
        calls = [
            Deferred.fromCoroutine(session.run("SELECT repeat('x', $1::int), $1::int", size)) for size in range(40)
        ]
        assert await gatherResults(calls) == [[("x" * size, size)] for size in range(40)]


@pytest.mark.parametrize("cut_after", [1, 5, 40, 1_000, 65_000])
@awaited
async def test_a_connection_that_is_cut_in_an_answer_fails_its_statement_only(wire: Wire, cut_after: int) -> None:
    async with session_to(wire.conninfo) as session:
        await session.run("SELECT 1")
        wire.cut_after = cut_after
        calls = [
            Deferred.fromCoroutine(session.run("SELECT repeat('x', 100000)")).addErrback(lambda failure: failure.value)
            for _ in range(3)
        ]
        assert [type(each) for each in await gatherResults(calls)] == [Unavailable, list, list]
        assert await session.run("SELECT 2") == [(2,)]
        assert wire.connections == 2


@pytest.fixture
def tls_conninfo(tmp_path: Path) -> Iterator[str]:
    """Return the connection string of a server with TLS on a port of loopback."""
    authority = holder("localhost", authority=True)
    (tmp_path / "ca.pem").write_bytes(authority.pem)
    port = free_port()
    engine = engines.new_engine()
    try:
        for name, content in (("server.key", authority.private_pem), ("server.crt", authority.pem)):
            path = engine.data / name
            path.write_bytes(content)
            path.chmod(0o600)
            if os.getuid() == 0:
                os.chown(path, engines.NOBODY, engines.NOBODY)
        try:
            engine.restart({"ssl": "on", "listen_addresses": "127.0.0.1", "port": str(port)})
        except AssertionError as error:
            if "not supported by this build" not in str(error):
                raise
            pytest.skip("this PostgreSQL is built without TLS")
        yield (
            f"host=localhost hostaddr=127.0.0.1 port={port} dbname=postgres user=postgres"
            f" sslmode=verify-full sslrootcert={tmp_path / 'ca.pem'}"
        )
    finally:
        engine.close()


@awaited
async def test_answers_through_tls_do_not_stall(tls_conninfo: str) -> None:
    async with session_to(tls_conninfo) as session:
        assert await session.run("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()") == [(True,)]
        # Records of TLS have up to 16 KiB: sizes around their borders.
        sizes = [100, 16_300, 16_384, 16_400, 32_768, 65_536, 300_000, 1_000_000] * 5
        calls = [Deferred.fromCoroutine(session.run("SELECT repeat('x', $1::int)", size)) for size in sizes]
        assert [len(rows[0][0]) for rows in await gatherResults(calls)] == sizes
