"""Steps of the schema: their files, which ones run, and which software works on a database that has them."""

from __future__ import annotations

import ast
import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest

from directory_server.domain.errors import NEWER_SCHEMA, Unavailable
from directory_server.postgres import Database as PostgresDatabase
from directory_server.runtime.run_sync import run_sync
from directory_server.sqlite import Database as SqliteDatabase
from directory_server.tables import Step, known_steps
from directory_server.tables._steps import SUPERSEDED, read_steps
from directory_server.upgrades import former_steps

from ..modules import MODULES, Module
from .schemas import make_former_postgres, make_former_sqlite, postgres_schema, sqlite_schema
from .test_upgrades import created

APPLIED = "SELECT owner || ' ' || number FROM applied_step ORDER BY at, owner, number"


class Place:
    """A database of an engine, empty at first."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, engine: str) -> None:
        self._monkeypatch = monkeypatch
        self.engine = engine

    def make_former(self) -> None:
        """Bring it to the first step of earlier releases."""
        raise NotImplementedError

    def upgrade(self) -> None:
        """Open it as a server does."""
        raise NotImplementedError

    def all(self, query: str) -> list[Any]:
        """Return the rows of a query, or run a statement."""
        raise NotImplementedError

    def schema(self) -> dict[str, list[Any]]:
        """Return its schema as rows."""
        raise NotImplementedError

    def add(self, owner: str, number: int, script: str, needs: int = 0) -> None:
        """Let the software know one more step, after the others of its owner."""
        steps = [*known_steps(self.engine), Step(owner, number, needs, {"directory": script})]
        ordered = sorted(steps, key=lambda step: [other.owner for other in steps].index(step.owner))
        self.know(ordered)

    def know(self, steps: Sequence[Step]) -> None:
        """Let the software know `steps` only."""
        self._monkeypatch.setattr(f"directory_server.{self.engine}._migrations.known_steps", lambda engine: steps)

    def forget(self) -> None:
        """Let the software know its own steps again."""
        self._monkeypatch.undo()


class SqlitePlace(Place):
    def __init__(self, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
        super().__init__(monkeypatch, "sqlite")
        self.folder = folder

    def make_former(self) -> None:
        with closing(sqlite3.connect(self.folder / "directory.db")) as connection:
            make_former_sqlite(connection, "directory", 1)

    def upgrade(self) -> None:
        SqliteDatabase(self.folder, "directory").close()

    def all(self, query: str) -> list[Any]:
        with closing(sqlite3.connect(self.folder / "directory.db")) as connection, connection:
            return connection.execute(query).fetchall()

    def schema(self) -> dict[str, list[Any]]:
        with closing(sqlite3.connect(self.folder / "directory.db")) as connection:
            return sqlite_schema(connection)


class PostgresPlace(Place):
    def __init__(self, monkeypatch: pytest.MonkeyPatch, conninfo: str, connection: psycopg.Connection[Any]) -> None:
        super().__init__(monkeypatch, "postgres")
        self._conninfo = conninfo
        self._connection = connection

    def make_former(self) -> None:
        make_former_postgres(self._connection, 1)

    def upgrade(self) -> None:
        with closing(PostgresDatabase(self._conninfo)) as database:
            run_sync(database.upgrade())

    def all(self, query: str) -> list[Any]:
        cursor = self._connection.execute(query.encode())
        return cursor.fetchall() if cursor.description else []

    def schema(self) -> dict[str, list[Any]]:
        return postgres_schema(self._connection)


@pytest.fixture(params=["sqlite", "postgres"])
def new_place(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[], Place]]:
    """Return a function that returns an empty database, which may be called once."""
    if request.param == "sqlite":
        yield lambda: SqlitePlace(monkeypatch, tmp_path)
        return
    with created("steps") as conninfo, psycopg.connect(conninfo, autocommit=True) as connection:
        yield lambda: PostgresPlace(monkeypatch, conninfo, connection)


@pytest.fixture
def place(new_place: Callable[[], Place]) -> Place:
    return new_place()


def test_a_new_database_has_the_schema_of_an_upgraded_one(place: Place, tmp_path: Path) -> None:
    place.make_former()
    place.upgrade()
    upgraded = place.schema()
    if isinstance(place, SqlitePlace):
        new: Place = SqlitePlace(pytest.MonkeyPatch(), tmp_path / "new")
        new.upgrade()
        assert new.schema() == upgraded
        return
    with created("steps_new") as conninfo, psycopg.connect(conninfo, autocommit=True) as connection:
        new = PostgresPlace(pytest.MonkeyPatch(), conninfo, connection)
        new.upgrade()
        assert new.schema() == upgraded


@pytest.mark.parametrize("file", ["quota", "statistics"])
def test_other_new_files_of_sqlite_have_the_schema_of_upgraded_ones(tmp_path: Path, file: Any) -> None:
    schemas = []
    for number in (0, 1):
        folder = tmp_path / str(number)
        folder.mkdir()
        with closing(sqlite3.connect(folder / f"{file}.db")) as connection:
            make_former_sqlite(connection, file, number)
        with closing(SqliteDatabase(folder, file)) as database, database.connection() as connection:
            schemas.append(sqlite_schema(connection))
    assert schemas[0] == schemas[1]
    assert len(schemas[0]["table"]) >= 3


def test_all_tables_of_sqlite_are_strict(tmp_path: Path) -> None:
    place = SqlitePlace(pytest.MonkeyPatch(), tmp_path)
    place.upgrade()
    tables = "FROM pragma_table_list WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
    assert place.all(f"SELECT count(*) {tables}") > [(40,)]
    assert place.all(f"SELECT name {tables} AND NOT strict") == []


@pytest.mark.parametrize("is_former", [False, True])
def test_missing_steps_run_once(place: Place, is_former: bool) -> None:
    if is_former:
        place.make_former()
    place.add("audit", 1, "CREATE TABLE later (n bigint);\nINSERT INTO later (n) VALUES (1);\n")
    place.upgrade()
    place.upgrade()
    # A feature that earlier releases did not have.
    place.add("zebras", 1, "CREATE TABLE zebra (text text COLLATE \"C\" NOT NULL);\nINSERT INTO zebra VALUES (';');\n")
    place.upgrade()
    assert place.all("SELECT n FROM later") == [(1,)]
    assert place.all("SELECT text FROM zebra") == [(";",)]
    is_shared = place.engine == "postgres"
    steps = [str(step) for step in known_steps(place.engine) if is_shared or "directory" in step.scripts]
    assert {name for (name,) in place.all(APPLIED)} == {*steps, "audit 1", "zebras 1"}


@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
def test_steps_of_the_kernel_run_before_those_of_features(engine: str) -> None:
    owners = list(dict.fromkeys(step.owner for step in known_steps(engine)))
    assert owners[:2] == ["tables", engine]
    assert len(owners) > 10
    assert owners == list(dict.fromkeys([*owners[:2], *sorted(owners[2:])]))


def test_a_failed_step_leaves_nothing(place: Place) -> None:
    place.add("audit", 1, "CREATE TABLE half (n bigint);\nnot SQL;\n")
    with pytest.raises((Unavailable, psycopg.Error), match="syntax error"):
        place.upgrade()
    place.forget()
    place.upgrade()
    with pytest.raises((sqlite3.Error, psycopg.Error), match="half"):
        place.all("SELECT * FROM half")


def test_rejects_a_schema_that_needs_newer_software(place: Place) -> None:
    place.add("audit", 1, "CREATE TABLE more (n bigint);\n")
    place.upgrade()
    place.forget()
    # Older software works on a step that only adds, also of a feature that it does not know.
    place.all("INSERT INTO applied_step VALUES ('zebras', 1, 0, 0)")
    place.upgrade()
    place.all("INSERT INTO applied_step VALUES ('audit', 2, 2, 0)")
    reason = "step 2 of audit needs software that knows step 2; this version knows 0. Install the newer version"
    with pytest.raises(Unavailable, match=reason) as caught:
        place.upgrade()
    assert caught.value.code == NEWER_SCHEMA


def test_earlier_releases_reject_a_schema_that_needs_newer_software(place: Place) -> None:
    place.know([step for step in known_steps(place.engine) if not step.needs])
    place.upgrade()
    if place.engine == "postgres":
        former = "SELECT max(number), max(needs) FROM schema_step"
        assert place.all(former) == [(len(former_steps("postgres")), 1)]
        place.know([*known_steps("postgres"), Step("zebras", 1, 1, {"directory": "CREATE TABLE zebra (n bigint)"})])
        place.upgrade()
        assert place.all(former) == [(SUPERSEDED, SUPERSEDED)]
    else:
        assert place.all("PRAGMA user_version") == [(SUPERSEDED,)]


def test_rejects_a_file_of_an_unknown_step(tmp_path: Path) -> None:
    place = SqlitePlace(pytest.MonkeyPatch(), tmp_path)
    place.all("PRAGMA user_version = 99")
    with pytest.raises(Unavailable, match=r"directory\.db was written by a newer version.* number 99.* knows \d"):
        place.upgrade()


@pytest.mark.parametrize(
    ("name", "text"), [("1_first.sql", "-- needs: 0\n"), ("001_first.sql", "CREATE TABLE a (n bigint);\n")]
)
def test_rejects_a_file_of_another_form(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(ValueError, match=f"lists: {name} must be named"):
        list(read_steps("lists", tmp_path))


def test_reads_the_parts_of_a_step(tmp_path: Path) -> None:
    (tmp_path / "001_a.sql").write_text("-- needs: 3\nA;\n-- file: quota\nB;\nC;\n")
    (tmp_path / "000_a.sql").write_text("-- needs: 0\n-- file: quota\nD;\n")
    (tmp_path / "notes.txt").touch()
    assert list(read_steps("lists", tmp_path)) == [
        Step("lists", 0, 0, {"quota": "D;\n"}),
        Step("lists", 1, 3, {"directory": "A;\n", "quota": "B;\nC;\n"}),
    ]
    assert list(read_steps("lists", tmp_path / "none")) == []


def test_numbers_of_steps_have_no_gaps() -> None:
    for engine in ("sqlite", "postgres"):
        numbers: dict[str, list[int]] = {}
        for step in known_steps(engine):
            numbers.setdefault(step.owner, []).append(step.number)
        for owner, known in numbers.items():
            assert known == list(range(known[0], known[0] + len(known))), owner
            assert known[0] in (0, 1), owner
        assert all(step.needs <= step.number for step in known_steps(engine))


def owned_tables() -> dict[str, str]:
    """Return the owner of each table of the schema."""
    owners: dict[str, str] = {}
    for step in (*known_steps("sqlite"), *known_steps("postgres")):
        for script in step.scripts.values():
            owners |= dict.fromkeys(re.findall(r"CREATE (?:UNLOGGED )?TABLE (\w+)", script), step.owner)
    return owners


def foreign_tables(module: Module, owners: Mapping[str, str]) -> Iterator[str]:
    """Yield each table of a feature that the SQL of another owner names."""
    parts = module.name.split(".")
    own = parts[2] if parts[1] == "features" else "tables"
    features = {table for table, owner in owners.items() if owner not in {"tables", "sqlite", "postgres", own}}
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            named = re.findall(r"\b(?:FROM|JOIN|INTO|UPDATE|TABLE)\s+(\w+)", node.value)
            yield from features.intersection({*named, node.value} if own == "tables" else named)


def test_tables_of_a_feature_are_its_own() -> None:
    owners = owned_tables()
    assert {"webhook", "target", "statistic_count"} <= {table for table, owner in owners.items() if owner != "tables"}
    foreign = {
        (module.name, table)
        for module in MODULES
        if re.match(r"directory_server\.(tables|sqlite|postgres|storage|features\.\w+)\b", module.name)
        for table in foreign_tables(module, owners)
    }
    assert foreign == set()


@pytest.mark.parametrize("text", ["X = 'SELECT 1 FROM webhook'", "X = {'webhook': 1}", "X = f'''UPDATE\\n webhook'''"])
def test_a_table_of_a_feature_in_the_kernel_is_found(text: str) -> None:
    assert set(foreign_tables(Module("directory_server.tables._x", text), owned_tables())) == {"webhook"}
    own = Module("directory_server.features.webhooks.tables", text)
    assert list(foreign_tables(own, owned_tables())) == []
