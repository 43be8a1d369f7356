"""The quota clock: one for all processes of a machine, independent of changes of the system time."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

from ..domain.ports.runtime import MachineTime
from ._database import Database

_READ = "SELECT boot, origin FROM anchor"

_WRITE = "INSERT OR REPLACE INTO anchor (id, boot, origin) VALUES (1, ?, ?)"

_LATEST = "SELECT max(at) FROM spent"


def quota_clock(database: Database, machine: MachineTime) -> Callable[[], float]:
    """Return a clock in seconds since the epoch that all processes on the quota's `database` share.

    It is the sum of the uptime and an origin stored in the database. The first process after a boot sets the origin
    so that the clock shows the system time, or the latest time in the database if that is later. A change of the
    system time therefore has no effect until the next boot. Raises Unavailable.
    """
    with database.connection() as connection:
        origin = _stored_origin(connection, machine)
    if origin is None:
        with database.transaction() as connection:
            origin = _stored_origin(connection, machine)
            if origin is None:
                latest = _latest(connection)
                begin = machine.wall() if latest is None else max(machine.wall(), latest)
                origin = begin - machine.uptime()
                connection.execute(_WRITE, (machine.boot, origin))
    start, uptime = origin, machine.uptime

    def now() -> float:
        return start + uptime()

    return now


def _stored_origin(connection: sqlite3.Connection, machine: MachineTime) -> float | None:
    """Return the origin in the database; None if it belongs to another boot."""
    row = connection.execute(_READ).fetchone()
    if row is None or row[0] != machine.boot:
        return None
    origin = float(row[1])
    if not machine.boot:
        # An uptime before the latest charge belongs to another boot. A later one may, too: the clock is then behind
        # the system time by the time that the machine was off, and still exact.
        latest = _latest(connection)
        if latest is not None and origin + machine.uptime() < latest:
            return None
    return origin


def _latest(connection: sqlite3.Connection) -> float | None:
    (latest,) = connection.execute(_LATEST).fetchone()
    return None if latest is None else float(latest)
