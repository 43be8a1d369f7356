"""The commands of docs/operations.md for PostgreSQL, run as they are written: set-up, standbys, fail-over, backup.

Each machine of the document is a server in a folder, and its host name is replaced by the folder of its socket.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from attrs import frozen

from .. import engines
from ..engines import NOBODY
from ..process.conftest import FOREGROUND, LISTEN, TIMEOUT, environment, run_command, run_server, until

pytestmark = pytest.mark.process

DOCUMENT = Path(__file__).parents[2] / "docs" / "operations.md"

PASSWORD = "correct horse"

ACCESS = "local all postgres trust\nlocal all all scram-sha-256\n"
"""pg_hba.conf before the commands: of a socket, because the servers have no other."""

RIGHTS = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.getuid() == 0 else {}


def blocks(heading: str, language: str = "sh") -> list[str]:
    """Return the code blocks of a section of the document."""
    text = DOCUMENT.read_text("utf-8")
    section = re.search(rf"^### {heading}\n(.*?)(?=^##)", text, re.MULTILINE | re.DOTALL)
    assert section, heading
    return re.findall(rf"^```{language}\n(.*?)^```$", section[1], re.MULTILINE | re.DOTALL)


@frozen
class Machine:
    """A machine of the document. `site` has the folders of all."""

    name: str
    site: Path
    binaries: Path

    @property
    def folder(self) -> Path:
        return self.site / self.name

    @property
    def data(self) -> Path:
        return self.folder / "data"

    def create(self) -> None:
        """Create the folder of the machine, where PostgreSQL has no data."""
        self.folder.mkdir()
        if RIGHTS:
            os.chown(self.folder, NOBODY, NOBODY)

    def run(self, commands: str, stdin: str = "") -> str:
        """Run documented commands on this machine; return their output."""
        variables = {
            "PATH": f"{self.binaries}:{os.environ['PATH']}",
            "HOME": str(self.folder),
            "PGHOST": str(self.folder),
            "PGUSER": "postgres",
            "LC_ALL": "C",
        }
        # Without a terminal, the prompts for passwords read the standard input.
        done = subprocess.run(
            ["bash", "-eu", "-o", "pipefail", "-c", self._here(commands)],
            cwd=self.folder,
            env=environment(**variables),
            input=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=TIMEOUT,
            start_new_session=True,
            **RIGHTS,  # type: ignore[call-overload]
        )
        assert done.returncode == 0, f"{commands}\n{done.stdout}"
        return str(done.stdout)

    def start(self) -> None:
        # The log is a file: the server must not keep the pipe of the output open.
        self.run(
            f"pg_ctl start --pgdata={self.data} --log=log --wait --options='-k {self.folder} -h \"\" -c fsync=off'"
        )

    def stop(self) -> None:
        """Stop the server, if it runs, without a checkpoint: as a crash does."""
        if (self.data / "postmaster.pid").exists():
            self.run(f"pg_ctl stop --pgdata={self.data} --mode=immediate")

    def query(self, statement: str) -> str:
        return self.run(f'psql --tuples-only --no-align --command "{statement}"').strip()

    def _here(self, commands: str) -> str:
        commands = re.sub(r"^/opt/.* install .*\n", "", commands, flags=re.MULTILINE)
        if self.name == "db3":
            commands = commands.replace("standby1", "standby2")
        return at_site(commands, self.site, str(self.data))


def at_site(text: str, site: Path, data: str = "") -> str:
    """Return `text` of the document with the places, names and password of the test."""
    replacements = {
        "sudo -u postgres ": "",
        "/etc/postgresql/15/main": data,
        "/var/lib/postgresql/15/main": data,
        "/etc/directory-server.pgpass": str(site / "pgpass"),
        "hostssl replication replicator 10.0.0.0/24": "local replication replicator",
        "PASSWORD": PASSWORD,
        # After the fail-over.
        "db.example.org": str(site / "db2"),
    }
    for shown, here in replacements.items():
        text = text.replace(shown, here)
    return re.sub(r"(db\d)\.example\.org", rf"{site}/\1", text)


@pytest.fixture
def machines() -> Iterator[dict[str, Machine]]:
    """Return the machines db1, db2 and db3. A server runs on the first."""
    binaries = engines.binaries()
    if binaries is None:
        engines.new_engine()  # Skips or fails.
    assert binaries
    if not os.access(binaries / "pg_basebackup", os.X_OK):
        pytest.skip(f"no pg_basebackup in {binaries}")
    # A short path, because it is that of sockets, and one that PostgreSQL's user can read.
    site = Path(tempfile.mkdtemp(prefix="pg-"))
    site.chmod(0o755)
    with ExitStack() as at_end:
        at_end.callback(shutil.rmtree, site, ignore_errors=True)
        found = {name: Machine(name, site, binaries) for name in ("db1", "db2", "db3")}
        for machine in found.values():
            machine.create()
            at_end.callback(machine.stop)
        found["db1"].run(f"initdb --pgdata={found['db1'].data} --auth=trust --no-sync --username=postgres")
        (found["db1"].data / "pg_hba.conf").write_text(ACCESS)
        found["db1"].start()
        yield found


def test_the_documented_commands_in_their_order(machines: dict[str, Machine], tmp_path: Path) -> None:
    db1, db2, db3 = machines.values()
    site = db1.site
    passwords = f"{PASSWORD}\n" * 2

    (set_up, *_) = blocks("Set up from an empty PostgreSQL")
    db1.run(set_up, passwords)
    (site / "pgpass").write_text(pgpass_line(site))
    (site / "pgpass").chmod(0o600)
    if RIGHTS:
        os.chown(site / "pgpass", NOBODY, NOBODY)

    role, copy, names, fail_over, follow = blocks("High availability")
    assert [re.findall(r"^# on (db\d)", block) for block in (role, copy, names, fail_over, follow)] == [
        *([name] for name in ("db1", "db2", "db1", "db2", "db3"))
    ]
    (database,) = re.findall(r'^database = "(.*)"$', "".join(blocks("High availability", "toml")), re.MULTILINE)
    settings = environment(
        DIRECTORY_SERVER_DATABASE=at_site(database, site), PGPASSFILE=str(site / "pgpass"), LC_ALL="C"
    )

    db1.run(role, passwords)
    for standby in (db2, db3):
        standby.run(copy)
        standby.start()
    streaming = "SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'"
    until(lambda: db1.query(streaming) == "2", "both standbys stream")
    # Commits wait for no standby yet.
    key = directory_server(tmp_path, settings, "key", "create", "--label", "first").strip()
    db1.run(names)
    synchronous = "SELECT string_agg(sync_state, ' ') FROM pg_stat_replication"
    until(lambda: db1.query(synchronous) == "quorum quorum", "both standbys are synchronous")

    with run_server([*FOREGROUND, "directory", "-l", LISTEN], tmp_path, settings) as server:
        assert server.search("a", key).status == 200
        db1.stop()
        db2.run(fail_over)
        until(lambda: server.search("a", key).status == 200, "charges at the new primary")
        db3.run(follow)
        until(lambda: db2.query(streaming) == "1", "the other standby follows")
        db2.run(names.replace("ANY 1 (standby1, standby2)", "ANY 1 (standby2)"))
        until(lambda: db2.query(synchronous) == "quorum", "the other standby is synchronous")
        assert server.search("a", key).status == 200
        server.stop()

    dump, restore = blocks("Back up and restore")
    db2.run(dump)
    second = directory_server(tmp_path, settings, "key", "create", "--label", "second").strip()
    db2.run(restore)
    restored = settings | {
        "DIRECTORY_SERVER_DATABASE": settings["DIRECTORY_SERVER_DATABASE"].replace(
            "dbname=directory", "dbname=restored"
        )
    }
    assert "first" in directory_server(tmp_path, restored, "after-restore")
    with run_server([*FOREGROUND, "directory", "-l", LISTEN], tmp_path, restored) as server:
        assert server.search("a", key).status == 200
        assert server.search("a", second).status == 401
        server.stop()


def pgpass_line(site: Path) -> str:
    """Return the documented line of the password file for several hosts."""
    (line,) = set(re.findall(r"`(\*:5432:\S+:directory:PASSWORD)`", DOCUMENT.read_text("utf-8")))
    return at_site(line, site) + "\n"


def directory_server(folder: Path, settings: dict[str, str], *arguments: str) -> str:
    """Run a command; return its standard output."""
    done = run_command(*arguments, cwd=folder, env=settings)
    assert done.returncode == 0, done.stderr
    return done.stdout
