"""Databases that are closed again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeAlias

import pytest

from directory_server.embedded import Database
from directory_server.embedded._database import Schema

Open: TypeAlias = Callable[[Schema], Database]


@pytest.fixture
def open_database(tmp_path: Path) -> Iterator[Open]:
    """Return what opens a database of one and the same folder, as another process would, each time it is called."""
    opened = []

    def open_one(schema: Schema) -> Database:
        opened.append(Database(tmp_path, schema))
        return opened[-1]

    yield open_one
    for database in opened:
        database.close()
