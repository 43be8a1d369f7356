"""Two versions of the software on one database: an upgrade of one machine after the other.

The newer version is a copy of this one with a further step of the schema, other functions of the quota, and another
analysis of documents.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

import directory_server
from directory_server.tables import known_steps

from .. import engines
from ..process.conftest import COMMAND, FOREGROUND, LISTEN, TIMEOUT, Server, entry_line, environment, run_server, until
from ._workload import Workload
from .conftest import Cluster

pytestmark = pytest.mark.process

PACKAGE = Path(directory_server.__file__).parent

QUOTA = PACKAGE / "postgres" / "schema" / "000_first.sql"

LAST = max(step.number for step in known_steps("postgres") if step.owner == "postgres")

NEWEST = "SELECT max(number) FROM applied_step WHERE owner = 'postgres'"


def newer_version(folder: Path) -> Path:
    """Return a folder with a copy of the package that knows one more step, which only adds."""
    copy = folder / "directory_server"
    # The copied bytecode is valid: a copy has the times of its source.
    shutil.copytree(PACKAGE, copy)
    quota = "".join(re.findall(r"^CREATE FUNCTION \w+_1.*?^END \$\$;\n", QUOTA.read_text("utf-8"), re.S | re.M))
    assert quota.count("FUNCTION") == 3
    number = LAST + 1
    (copy / "postgres" / "schema" / f"{number:03}_next.sql").write_text(
        f"-- needs: {LAST}\nALTER TABLE record ADD COLUMN note text NOT NULL DEFAULT '';\n"
        f"{quota.replace('_1(', '_2(')}",
        "utf-8",
    )
    for name, old, new in (
        ("postgres/_quota.py", "charge_1(", "charge_2("),
        ("postgres/_quota.py", "peek_1(", "peek_2("),
        ("search/index/packing.py", "ANALYSIS, ANALYSED_SAMPLE = ", "ANALYSIS, ANALYSED_SAMPLE = 9"),
    ):
        file = copy / name
        text = file.read_text("utf-8")
        assert old in text
        file.write_text(text.replace(old, new, 1), "utf-8")
    return folder


@contextmanager
def serve_newer(cluster: Cluster, package: Path) -> Iterator[Server]:
    """Run a server of the newer version."""
    folder = cluster.folder / "newer"
    folder.mkdir(exist_ok=True)
    with run_server(
        [*FOREGROUND, "directory", "-l", LISTEN, "--set", f"streams.heartbeat={10 * TIMEOUT}"],
        folder,
        environment(DIRECTORY_SERVER_DATABASE=cluster.engine.conninfo, PYTHONPATH=str(package)),
    ) as server:
        yield server


def test_both_work_on_the_schema_of_the_newer_one(tmp_path: Path) -> None:
    package = newer_version(tmp_path / "package")
    engine = engines.new_engine()
    cluster = Cluster(engine, tmp_path)
    try:
        with cluster.serve("older") as older:
            limited = cluster.new_key("--limit", 20)
            with serve_newer(cluster, package) as newer, psycopg.connect(engine.conninfo, autocommit=True) as database:
                assert database.execute(NEWEST).fetchone() == (LAST + 1,)
                statuses = [(older, newer)[number % 2].search("rain", limited).status for number in range(22)]
                assert statuses == [200] * 20 + [401] * 2
                # The publishers are of the older version.
                with Workload([older, newer], engine.conninfo) as workload:
                    done = subprocess.run(
                        [COMMAND, "import", "-"],
                        env=environment(DIRECTORY_SERVER_DATABASE=engine.conninfo, PYTHONPATH=str(package)),
                        input=entry_line("a.example/newer", "It rains."),
                        text=True,
                        capture_output=True,
                    )
                    assert done.returncode == 0, done.stderr
                    until(lambda: workload.acknowledged.total() > 100, "charges")
                    workload.finish()
                workload.check_charges()
                workload.check_changes()
                # Neither overwrites the analyses of the other one.
                assert database.execute("SELECT count(DISTINCT version) FROM analysed").fetchone() == (2,)
                counts = "SELECT count(*) FROM pg_proc WHERE proname IN ('charge_1', 'charge_2')"
                assert database.execute(counts).fetchone() == (2,)
                # An older process that starts on the newer schema works as well.
                with cluster.serve("older") as again:
                    assert again.entry_count() == older.entry_count() == newer.entry_count()
                # A step that needs the newer version.
                database.execute("INSERT INTO applied_step VALUES ('postgres', %s, %s, 0)", (LAST + 2, LAST + 1))
                refused = cluster.run("status")
                assert refused.exit_code == 1
                assert f"step {LAST + 2} of postgres needs software that knows step {LAST + 1}" in refused.output
                newer.stop()
            older.stop()
    finally:
        engine.close()
