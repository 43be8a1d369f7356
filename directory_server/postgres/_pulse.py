"""The counter by which all processes learn that a key may have ended."""

from __future__ import annotations

from ._connection import Cursor

_BUMP = "UPDATE pulse SET keys = keys + 1"

_NOTIFY = "SELECT pg_notify('directory', '')"


def end_keys(cursor: Cursor) -> None:
    """Make all processes check the validity of their keys again, after the commit of this transaction.

    It must be the last statement, because transactions that change the one row wait for each other until the commit.
    """
    cursor.execute(_BUMP)
    cursor.execute(_NOTIFY)
