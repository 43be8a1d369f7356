"""The storage that the configuration chooses."""

from __future__ import annotations

from ..config import Config
from ._sqlite import open_sqlite
from ._storage import Environment, Storage


def open_storage(config: Config, environment: Environment) -> Storage:
    """Open the storage of `config` and return its adapters. Raises Unavailable."""
    return open_sqlite(config, environment)


def place(config: Config) -> str:
    """Return the path of the data directory, for messages."""
    return str(config.data_dir.absolute())
