"""The choice between SQLite and PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from ..config import Config
from ..domain.errors import Unavailable
from ..domain.transfers import Imported
from ..tables import Storage
from ._sqlite import open_sqlite
from ._storage import Environment

MISSING_DRIVER = (
    "the setting database needs the driver of PostgreSQL. Install it with: pip install 'directory-server[cluster]'"
)

# The driver is optional, and its import takes 100 ms: functions import what needs it.


def open_storage(config: Config, environment: Environment) -> Storage:
    """Open the storage of `config` and return its adapters. Raises Unavailable."""
    if not config.database:
        return open_sqlite(config, environment)
    with _driver():
        from ._postgres import open_postgres
    return open_postgres(config, environment)


def upgrade_database(config: Config) -> Sequence[str]:
    """Run the missing steps of the schema of the database of `config`; return their names. Raises Unavailable."""
    with _driver():
        from ._postgres import upgrade
    return upgrade(config)


def import_data_directory(config: Config, folder: Path) -> Imported:
    """Copy the data directory `folder` to the empty database of `config`; return what was imported.

    Raises BadInput and Unavailable; the database is empty then.
    """
    with _driver():
        from ._postgres import import_folder
    return import_folder(config, folder)


def place(config: Config) -> str:
    """Return the path of the data directory, or the host and name of the database, without user and password."""
    if not config.database:
        return str(config.data_dir.absolute())
    try:
        from ..postgres import place as database_place

        return database_place(config.database)
    except (ModuleNotFoundError, Unavailable):
        return "the database"


@contextmanager
def postgres_driver() -> Iterator[ModuleType]:
    """Return the package `postgres` as a context manager, in which Unavailable is raised without the driver."""
    with _driver():
        from .. import postgres
    yield postgres


@contextmanager
def _driver() -> Iterator[None]:
    """Raise Unavailable if an import fails because the driver is not installed."""
    try:
        yield
    except ImportError as error:
        # psycopg raises ImportError without libpq.
        if (error.name or "psycopg").partition(".")[0].startswith("psycopg"):
            raise Unavailable(MISSING_DRIVER) from None
        raise
