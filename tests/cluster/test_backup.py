"""Backups of a database: by pg_dump, restored into an empty database, and served."""

from __future__ import annotations

import os
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from directory_server.postgres import _backup

from ..process.conftest import entry_line
from .conftest import Cluster

pytestmark = pytest.mark.process


def test_a_backup_of_a_database_is_served(cluster: Cluster, tmp_path: Path) -> None:
    cluster.command("import", "-", stdin=entry_line("io.example/mail", "Reads mail."))
    key = cluster.new_key()
    cluster.command("backup", tmp_path / "copy")
    assert "is not empty" in cluster.run("restore", tmp_path / "copy").output
    with psycopg.connect(cluster.engine.conninfo, autocommit=True) as connection:
        connection.execute("CREATE DATABASE restored TEMPLATE template0")
    restored = make_conninfo(cluster.engine.conninfo, dbname="restored")
    assert "1 key" not in cluster.command("--set", f"database={restored}", "restore", tmp_path / "copy")
    with cluster.serve("one", database=restored) as server:
        assert server.search("mail", key).status == 200
        assert server.entry_count() == 1


def test_a_damaged_dump_is_not_restored(cluster: Cluster, tmp_path: Path) -> None:
    cluster.command("database", "upgrade")
    cluster.command("backup", tmp_path / "copy")
    dump = tmp_path / "copy" / "directory.dump"
    dump.write_bytes(dump.read_bytes()[:-100])
    assert "differs from its digest" in cluster.run("restore", tmp_path / "copy").output


def test_a_program_that_hangs_is_stopped(cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cluster.command("database", "upgrade")
    (tmp_path / "pg_dump").write_text("#!/bin/sh\nexec sleep 600\n")
    (tmp_path / "pg_dump").chmod(0o700)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr(_backup, "TIMEOUT", 0.1)
    assert "pg_dump took more than" in cluster.run("backup", tmp_path / "copy").output
    assert not (tmp_path / "copy").exists()


def test_the_last_backup_of_a_database_is_known(cluster: Cluster, tmp_path: Path) -> None:
    cluster.command("backup", tmp_path / "copy")
    with psycopg.connect(cluster.engine.conninfo) as connection:
        assert connection.execute("SELECT name, has_ended FROM work").fetchall() == [("backup", True)]
