"""The command `directory-server` with a database, and its error messages."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import psycopg
import pytest
from click.testing import CliRunner

from directory_server.command_line import main
from directory_server.config import load, settings_tables
from directory_server.features import sections
from directory_server.storage import place

from ..process.conftest import COMMAND, FOREGROUND, LISTEN, TIMEOUT, entry_line, environment, run_twistd, until
from .conftest import Cluster

pytestmark = pytest.mark.process

SECRET = "s3cret-word"


def fail(database: str, *arguments: str) -> str:
    """Run `directory-server` with a `database`; it must fail. Return its one line of output."""
    result = CliRunner().invoke(main, ["--set", f"database={database}", *(arguments or ("status",))])
    assert result.exit_code == 1, result.output
    assert isinstance(result.exception, SystemExit), result.exception
    (line,) = result.output.splitlines()
    assert SECRET not in line
    return str(line)


def test_upgrade_runs_each_migration_once(cluster: Cluster) -> None:
    assert "ran the migrations tables 0, " in cluster.command("database", "upgrade")
    assert "the schema is up to date" in cluster.command("database", "upgrade")


def test_commands_need_no_data_directory(cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    key = cluster.new_key()
    assert key.startswith("mcpd_")
    assert "1 valid, 1 total" in cluster.command("status")
    token = cluster.command("registry", "token", "create", "--label", "editors")
    assert "/r/" in token
    assert "/account/invitation/" in cluster.command("account", "add", "ann@example.org")
    assert "ann@example.org  invited" in cluster.command("account", "list")
    cluster.command("account", "disable", "ann@example.org")
    assert "the log has a new id" in cluster.command("after-restore")
    assert "/account/invitation/" not in cluster.run("account", "reset", "ann@example.org").stdout
    assert [each.name for each in tmp_path.iterdir() if each.is_dir()] == []


def test_a_server_that_has_stopped(cluster: Cluster) -> None:
    cluster.command("database", "upgrade")
    cluster.engine.pause()
    try:
        line = fail(cluster.engine.conninfo)
    finally:
        cluster.engine.resume()
    assert line.startswith("Error: Cannot use host=")
    assert "timeout expired" in line


def test_a_server_that_stops_while_a_command_runs(cluster: Cluster) -> None:
    settings = ["--set", f"database={cluster.engine.conninfo}"]
    process = subprocess.Popen(
        [COMMAND, *settings, "import", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdin is not None
    try:
        process.stdin.write("".join(entry_line(f"com.example/{number}") for number in range(1_000)).encode())
        process.stdin.flush()
        until(lambda: "entries         500" in cluster.command("status"), "the first entries are stored")
        cluster.engine.pause()
        process.stdin.write("".join(entry_line(f"com.example/{number}") for number in range(1_000, 2_000)).encode())
        output, errors = process.communicate(timeout=TIMEOUT)
    finally:
        cluster.engine.resume()
        process.kill()
    assert process.returncode == 1
    assert output == b"" or b"added" in output
    [line] = [line for line in errors.decode().splitlines() if line.startswith("Error: ")]
    assert line.endswith("The database cannot be used now: it does not respond.")
    assert b"Traceback" not in errors


def test_a_server_that_is_away(tmp_path: Path) -> None:
    line = fail(f"host={tmp_path} dbname=directory password={SECRET}")
    assert line.startswith(f"Error: Cannot use host={tmp_path} dbname=directory: The database rejects the connection: ")
    assert "No such file or directory" in line


def test_a_wrong_password_and_an_unknown_database(cluster: Cluster) -> None:
    with psycopg.connect(cluster.engine.conninfo, autocommit=True) as connection:
        connection.execute("CREATE ROLE limited LOGIN PASSWORD 'another'")
        hba = connection.execute("SHOW hba_file").fetchone()
        assert hba is not None
        rules = Path(hba[0]).read_text("ascii")
        Path(hba[0]).write_text(f"local all limited scram-sha-256\n{rules}", "ascii")
        connection.execute("SELECT pg_reload_conf()")
    host = f"host={cluster.engine.folder}"
    line = fail(f"{host} dbname=postgres user=limited password={SECRET}")
    assert 'password authentication failed for user "limited"' in line
    assert 'database "missing" does not exist' in fail(f"{host} dbname=missing user=postgres password={SECRET}")


def test_a_database_with_another_encoding(cluster: Cluster) -> None:
    with psycopg.connect(cluster.engine.conninfo, autocommit=True) as connection:
        connection.execute("CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")
    assert "must have the encoding UTF8, not LATIN1" in fail(f"{cluster.engine.conninfo} dbname=latin")


def test_a_schema_of_newer_software(cluster: Cluster) -> None:
    cluster.command("database", "upgrade")
    with psycopg.connect(cluster.engine.conninfo, autocommit=True) as connection:
        connection.execute("INSERT INTO applied_step VALUES ('tables', 99, 99, 0)")
    assert "Install the newer version." in fail(cluster.engine.conninfo, "database", "upgrade")


def test_a_role_that_may_not_create_tables_is_told_so(cluster: Cluster) -> None:
    with psycopg.connect(cluster.engine.conninfo, autocommit=True) as connection:
        connection.execute("CREATE ROLE reader LOGIN")
    line = fail(f"host={cluster.engine.folder} dbname=postgres user=reader")
    assert "permission denied for schema public" in line


def test_a_connection_string_that_libpq_cannot_read() -> None:
    assert "must be a connection string" in fail(f"password={SECRET} ho st=x")
    assert "must be a connection string" in fail(f"{SECRET}")


def test_a_server_does_not_start_without_its_database(tmp_path: Path) -> None:
    variables = environment(DIRECTORY_SERVER_DATABASE=f"host={tmp_path} password={SECRET}")
    ended = run_twistd(*FOREGROUND, "directory", "-l", LISTEN, cwd=tmp_path, env=variables)
    assert ended.returncode == 1
    assert f"Cannot serve host={tmp_path}: The database rejects the connection: " in ended.stdout
    assert SECRET not in ended.stdout
    assert "Traceback" not in ended.stdout


def test_the_driver_is_missing(tmp_path: Path) -> None:
    program = "import sys; sys.modules['psycopg'] = None; from directory_server.command_line import main; main()"
    command = [sys.executable, "-c", program, "--set", "database=dbname=directory", "status"]
    ended = subprocess.run(command, cwd=tmp_path, env=environment(), capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr == (
        "Error: Cannot use the database: the setting database needs the driver of PostgreSQL. "
        "Install it with: pip install 'directory-server[cluster]'\n"
    )


def test_the_setting_is_never_shown() -> None:
    setting = f"database=postgresql://ann:{SECRET}@db.example.org/directory"
    result = CliRunner().invoke(main, ["--set", setting, "config"])
    assert result.exit_code == 0
    assert "database = (secret)" in result.output
    assert SECRET not in result.output
    assert place(load(file=None, environ={}, settings=[setting])) == "host=db.example.org dbname=directory"
    assert "`database`" in settings_tables(sections())


def test_quota_synchronous_is_for_sqlite() -> None:
    line = fail("dbname=directory", "--set", "quota.synchronous=full", "status")
    assert line == ("Error: quota.synchronous (--set): is for SQLite only; with a database all commits are synchronous")


def test_the_commands_of_the_database_need_the_setting() -> None:
    result = CliRunner().invoke(main, ["database", "upgrade"])
    assert result.exit_code == 1
    assert result.output.startswith("Error: The setting database is empty.")
