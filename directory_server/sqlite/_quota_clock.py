"""The clock of the quota: one for all processes of a machine, whatever is done to the time of day."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

from attrs import frozen

from ._database import Database

_READ = "SELECT boot, origin FROM anchor"

_WRITE = "INSERT OR REPLACE INTO anchor (id, boot, origin) VALUES (1, ?, ?)"

_LATEST = "SELECT max(at) FROM spent"


@frozen
class MachineTime:
    """What a machine knows of time.

    `wall` is the time of day in seconds since the epoch. `uptime` is the seconds since the machine was booted, the same
    in every process, never set and never going back. `boot` names this boot, "" where the machine has no such name.
    """

    wall: Callable[[], float]
    uptime: Callable[[], float]
    boot: str


def quota_clock(database: Database, machine: MachineTime) -> Callable[[], float]:
    """Return a clock in seconds since the epoch that all processes on the quota's `database` share.

    It is the sum of the machine's uptime and of an origin kept in the database. The first process after a boot sets the
    origin so that the clock shows the time of day, or the latest time in the database where that is later. Setting the
    time of day therefore changes nothing until the next boot. Raises Unavailable.
    """
    with database.connection() as connection:
        origin = _kept(connection, machine)
    if origin is None:
        with database.transaction() as connection:
            origin = _kept(connection, machine)
            if origin is None:
                latest = _latest(connection)
                begin = machine.wall() if latest is None else max(machine.wall(), latest)
                origin = begin - machine.uptime()
                connection.execute(_WRITE, (machine.boot, origin))
    start, uptime = origin, machine.uptime

    def now() -> float:
        return start + uptime()

    return now


def _kept(connection: sqlite3.Connection, machine: MachineTime) -> float | None:
    """Return the origin in the database; None if it is that of another boot."""
    row = connection.execute(_READ).fetchone()
    if row is None or row[0] != machine.boot:
        return None
    origin = float(row[1])
    if not machine.boot:
        # An uptime that is before the latest charge began anew since. One that is not may belong to another boot, too:
        # the clock is then behind the time of day by as long as the machine was off, and as exact.
        latest = _latest(connection)
        if latest is not None and origin + machine.uptime() < latest:
            return None
    return origin


def _latest(connection: sqlite3.Connection) -> float | None:
    (latest,) = connection.execute(_LATEST).fetchone()
    return None if latest is None else float(latest)
