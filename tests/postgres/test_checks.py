"""Checks of the connection at the start of a process."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import psycopg
import pytest

from directory_server.domain.errors import Unavailable
from directory_server.postgres import Database, check_connection, place
from directory_server.postgres._connection import connect


def test_rejects_a_pooler_in_transaction_mode(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    # Such a pooler serves both connections by one session.
    session = connect(database.parameters)

    def pooled(_: Mapping[str, Any]) -> psycopg.Connection[Any]:
        return session

    monkeypatch.setattr("directory_server.postgres._reachability.connect", pooled)
    with pytest.raises(Unavailable, match="pooler in transaction mode"):
        check_connection(database.parameters)


def test_masks_a_password_in_the_reason() -> None:
    given = Database("host=/secret-word dbname=x password=secret-word").parameters
    with pytest.raises(Unavailable) as error:
        check_connection(given)
    assert "secret-word" not in str(error.value)
    assert "…" in str(error.value)


@pytest.mark.parametrize(
    ("conninfo", "shown"),
    [
        ("host=db dbname=x user=ann password=secret", "host=db dbname=x"),
        ("postgresql://ann:secret@db:5433/x?sslmode=require", "host=db port=5433 dbname=x"),
        ("service=directory", "of libpq's defaults"),
    ],
)
def test_the_place_has_neither_user_nor_password(conninfo: str, shown: str) -> None:
    assert place(conninfo) == shown
