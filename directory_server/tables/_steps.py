"""The steps of the schema. Each owner of tables has its own, in the folder `schema` of its package.

Owners are the kernel (`tables`, and what only one database needs: `sqlite`, `postgres`) and features. A step is the
file `NNN_name.sql`; files of a release do not change. Step 0 is what the steps of `upgrades` made: an older database
gets them in its place. The first line, `-- needs: N`, says up to which step of the owner other software must know the
schema to work on it. Statements are in the SQL of `_dialects`. Those after a line `-- file: NAME` are for this file of
SQLite, which has several.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

from attrs import frozen

from ..domain.errors import NEWER_SCHEMA, Unavailable

_PACKAGE = __package__.rpartition(".")[0]

_NAME = re.compile(r"(\d{3})_\w+\.sql")

NEEDS = re.compile(r"-- needs: (\d+)\n")
"""The first line of a step."""

_FILE = re.compile(r"^-- file: (\w+)\n", re.MULTILINE)

DIRECTORY = "directory"
"""The file of statements before the first line `-- file:`."""

SUPERSEDED = 1_000
"""The number of the schema for software that numbered the steps of all owners together. It knows lower ones only."""

APPLIED = """
    CREATE TABLE applied_step (
        owner text COLLATE "C" NOT NULL,
        number bigint NOT NULL,
        needs bigint NOT NULL,
        at double precision NOT NULL,
        PRIMARY KEY (owner, number)
    ) WITHOUT ROWID;
"""

READ_APPLIED = "SELECT owner, number, needs FROM applied_step"

ADD_APPLIED = """
    INSERT INTO applied_step (owner, number, needs, at)
    SELECT owner, number, needs, clock_seconds() FROM input(owner text, number bigint, needs bigint)
"""

Applied = tuple[str, int, int]
"""An owner, the number of a step in a database, and what it needs."""


@frozen
class Step:
    """Step `number` of the tables of `owner`: statements by the file of SQLite that they are for.

    Software that does not know step `needs` of the owner does not work on a database with this step.
    """

    owner: str
    number: int
    needs: int
    scripts: Mapping[str, str]

    @property
    def values(self) -> Mapping[str, object]:
        """The values of ADD_APPLIED."""
        return {"owner": self.owner, "number": self.number, "needs": self.needs}

    def __str__(self) -> str:
        return f"{self.owner} {self.number}"


@cache
def known_steps(database: str) -> Sequence[Step]:
    """Return the steps of all owners for "sqlite" or "postgres", in the order in which they run."""
    package = files(_PACKAGE)
    features = sorted(package.joinpath("features").iterdir(), key=lambda folder: folder.name)
    owners = [package.joinpath("tables"), package.joinpath(database), *features]
    return [step for owner in owners for step in read_steps(owner.name, owner.joinpath("schema"))]


def read_steps(owner: str, folder: Traversable) -> Iterator[Step]:
    """Yield the steps in `folder`, none if it does not exist. Raises ValueError for a wrong name or first line."""
    scripts = [file for file in folder.iterdir() if file.name.endswith(".sql")] if folder.is_dir() else []
    for file in sorted(scripts, key=lambda file: file.name):
        name, script = _NAME.fullmatch(file.name), file.read_text("utf-8")
        needs = NEEDS.match(script)
        if name is None or needs is None:
            raise ValueError(f"{owner}: {file.name} must be named NNN_name.sql and begin with a line '-- needs: N'")
        first, *others = _FILE.split(script[needs.end() :])
        parts = {DIRECTORY: first, **dict(zip(others[::2], others[1::2], strict=True))}
        yield Step(owner, int(name[1]), int(needs[1]), {file: part for file, part in parts.items() if part.strip()})


def missing_steps(steps: Sequence[Step], applied: Iterable[Applied], place: object) -> Sequence[Step]:
    """Return those of `steps` that a database at `place` lacks.

    Raises Unavailable if one of the `applied` steps needs newer software.
    """
    known: dict[str, int] = {}
    for step in steps:
        known[step.owner] = max(step.number, known.get(step.owner, 0))
    present = set()
    for owner, number, needs in applied:
        present.add((owner, number))
        last = known.get(owner, 0)
        if needs > last:
            raise Unavailable(
                f"A newer version of the directory server has upgraded {place}: step {number} of {owner} needs "
                f"software that knows step {needs}; this version knows {last}. Install the newer version.",
                code=NEWER_SCHEMA,
            )
    return [step for step in steps if (step.owner, step.number) not in present]
