"""`tests/contained.py` and `make check`: no process outlives them."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from .process.conftest import TIMEOUT, until

ROOT = Path(__file__).parents[1]
CONTAINED = ROOT / "tests" / "contained.py"

pytestmark = pytest.mark.process

COMMAND = f"""#!{sys.executable}
import os, signal, sys, time

def start(end, *numbers):
    if os.fork() == 0:
        os.setsid()
        for number in numbers:
            signal.signal(number, signal.SIG_IGN)
        while not end():
            time.sleep(0.01)
        os._exit(0)

parent = os.getpid()
# A worker, which waits for nothing, one that ignores all signals, and a guard, which ends with its parent.
start(lambda: False)
start(lambda: False, signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
start(lambda: os.getppid() != parent, signal.SIGINT, signal.SIGTERM)
try:
    open("started", "w").write("x")
    time.sleep(0 if "ends" in sys.argv else 600)
except KeyboardInterrupt:
    open("interrupted", "w").write("x")
    sys.exit(2)
sys.exit(7)
"""
"""A program that leaves processes behind, in groups of their own."""


@pytest.fixture
def command(tmp_path: Path) -> Path:
    program = tmp_path / "command"
    program.write_text(COMMAND)
    program.chmod(0o755)
    return program


def processes_in(folder: Path) -> list[str]:
    """Return the commands of the processes whose working directory is `folder`."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if os.readlink(process / "cwd") == str(folder):
                found.append((process / "cmdline").read_text().replace("\0", " "))
        except OSError:
            continue
    return found


def test_processes_that_outlive_the_command_are_ended(command: Path, tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, CONTAINED, command, "ends"], cwd=tmp_path, timeout=TIMEOUT)
    assert (done.returncode, processes_in(tmp_path)) == (7, [])


def test_a_signal_interrupts_the_command_and_ends_all(command: Path, tmp_path: Path) -> None:
    running = subprocess.Popen([sys.executable, CONTAINED, command], cwd=tmp_path)
    until((tmp_path / "started").exists, "the start")
    assert len(processes_in(tmp_path)) == 5
    running.send_signal(signal.SIGTERM)
    assert running.wait(TIMEOUT) == 128 + signal.SIGTERM
    assert (tmp_path / "interrupted").exists()
    assert processes_in(tmp_path) == []


def test_a_stopped_make_check_leaves_no_process(command: Path, tmp_path: Path) -> None:
    for name in ("setup.py", "pyproject.toml", "Makefile"):
        shutil.copy(ROOT / name, tmp_path)
    (tmp_path / "tests").mkdir()
    shutil.copy(CONTAINED, tmp_path / "tests")
    programs = tmp_path / ".venv" / "bin"
    programs.mkdir(parents=True)
    (programs / "python").symlink_to(sys.executable)
    for name in ("ruff", "mypy"):
        (programs / name).symlink_to(shutil.which("true") or "/bin/true")
    command.rename(programs / "pytest")
    for name in ("run", "dev"):
        (tmp_path / ".venv" / name).touch()
    make = subprocess.Popen(["make", "check"], cwd=tmp_path, start_new_session=True, stderr=subprocess.DEVNULL)
    until((tmp_path / "started").exists, "the start of pytest")
    # As a terminal does.
    os.killpg(make.pid, signal.SIGINT)
    assert make.wait(TIMEOUT) != 0
    until(lambda: not processes_in(tmp_path), "the end of all processes")
    assert (tmp_path / "interrupted").exists()
