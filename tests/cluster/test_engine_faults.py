"""A database whose disk is full, and one whose clock is set back."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from .. import engines
from ..faults.conftest import Faults, library, mounted
from ._machines import DETECTION, RECOVERY, running_machines
from ._workload import Workload

__all__ = ["library"]

pytestmark = pytest.mark.process

HOURS = 3_600

TOLERANCE = 5
"""Seconds by which a clock may be set back while requests keep their times (002_quota.sql)."""


@pytest.fixture
def public_folder() -> Iterator[Path]:
    """Return a folder that other users can read: the database runs as one if the tests run as root."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder


@pytest.fixture
def small_disk(public_folder: Path) -> Iterator[Path]:
    """Mount a file system of 64 MB and return its folder; skip the test if it cannot be mounted."""
    with mounted(public_folder / "disk", "size=64m,mode=755") as folder:
        yield folder


def fill(folder: Path) -> Path:
    """Fill a file system; return the file that does."""
    filler = folder / "filler"
    with filler.open("wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(bytes(65_536))
    with filler.open("ab", buffering=0) as file, suppress(OSError):
        while True:
            file.write(bytes(512))
    return filler


def test_a_full_disk_stops_charges_until_space_is_free(tmp_path: Path, small_disk: Path) -> None:
    engine = engines.new_engine(durable=True)
    engine.move_tables(small_disk)
    with closing(engine), running_machines(engine, tmp_path) as machines:
        with Workload(list(machines.servers), engine.conninfo) as workload:
            filler = fill(small_disk)
            # Pages that the tables have already still take some rows.
            machines.wait_until_away(timeout=6 * DETECTION)
            assert sum(each.entry_count() for each in machines.servers) > 0
            filler.unlink()
            took = workload.recovered(timeout=RECOVERY)
            machines.wait_until_available()
            workload.finish()
            workload.check_charges()
            workload.check_changes()
        log = machines.log()
        assert "Database unavailable: its disk is full" in log
        assert "Database available again (its disk is full ended)" in log
        machines.stop_all()
    print(f"full disk: charges {took:.2f} s after space is free")


def test_a_clock_that_is_set_back_admits_nothing_more_and_blocks_nothing(
    tmp_path: Path, public_folder: Path, library: Path
) -> None:
    faults = Faults(Path(shutil.copy(library, public_folder)), public_folder / "fault")
    engine = engines.new_engine(environ={"LD_PRELOAD": str(faults.library), "FAULT_CONTROL": str(faults.control)})
    with closing(engine), running_machines(engine, tmp_path) as machines:
        key = machines.cluster.new_key("--limit", 20)

        def charge(number: int) -> int:
            response = machines.servers[number % 2].search("rains", key)
            if response.status == 200:
                # The window ends an hour after the request, whatever the clock was before.
                assert int(response.headers["X-RateLimit-Reset"]) <= HOURS + TOLERANCE
            return response.status

        assert [charge(number) for number in range(15)] == [200] * 15
        for shift in (-2, -2 * HOURS, -48 * HOURS):
            faults.begin("clock", "-", shift)
            assert charge(0) == 200
        statuses = [charge(number) for number in range(4)]
        assert statuses == [200, 200, 401, 401]
        machines.stop_all()
