"""Backups of a database: by pg_dump, restored into an empty database, and served."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

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
