"""`make run` with wrong arguments and without a network: one line says what to do."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from .ports import free_port
from .process.conftest import COMMAND, TIMEOUT, environment

pytestmark = pytest.mark.process

ROOT = Path(__file__).parents[1]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Return a checkout without an environment, and without the package."""
    for name in ("Makefile", "setup.py", "pyproject.toml", "README.md"):
        shutil.copy(ROOT / name, tmp_path)
    return tmp_path


def run_make(checkout: Path, *arguments: str, **variables: str) -> list[str]:
    """Run a make that fails; return the lines that it prints, without that of make itself."""
    environ = {
        name: text for name, text in environment().items() if not name.startswith(("MAKE", "MFLAGS", "PIP_"))
    } | variables
    done = subprocess.run(
        ["make", *arguments],
        cwd=checkout,
        env=environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=3 * TIMEOUT,
    )
    *lines, last = done.stdout.splitlines()
    assert (done.returncode, last[:9]) == (2, "make: ***"), done.stdout
    return lines


def test_a_wrong_port_is_one_line(checkout: Path) -> None:
    programs = checkout / ".venv" / "bin"
    programs.mkdir(parents=True)
    for program in (COMMAND, COMMAND.with_name("twistd"), Path(sys.executable)):
        (programs / program.name).symlink_to(program)
    (checkout / ".venv" / "run").touch()
    (line,) = run_make(checkout, "run", "PORT=abc")
    problem = "must have a port from 0 to 65535, as in tcp:8080, not 'tcp:abc:"
    assert line.startswith(f"Error: DIRECTORY_SERVER_LISTEN (environment): {problem}")


@pytest.mark.parametrize("python", ["false", "no-such-python", "./old-python", "/etc/hostname"])
def test_a_wrong_python_is_one_line(checkout: Path, python: str) -> None:
    old = checkout / "old-python"
    old.write_text("#!/bin/sh\necho 'Traceback (most recent call last):' >&2\nexit 1\n")
    old.chmod(0o755)
    assert run_make(checkout, "run", f"PYTHON={python}") == [
        f"{python} is not Python 3.11 or later with venv: name one that is, as in make run PYTHON=python3.12."
    ]
    assert not (checkout / ".venv").exists()


def test_no_network_is_one_line(checkout: Path) -> None:
    index = f"http://127.0.0.1:{free_port()}/simple"
    variables = {"PIP_INDEX_URL": index, "PIP_CONFIG_FILE": os.devnull, "PIP_NO_CACHE_DIR": "1", "PIP_RETRIES": "1"}
    assert run_make(checkout, "run", f"PYTHON={sys.executable}", **variables) == [
        "Installing the dependencies in .venv.",
        "pip cannot reach the package index: check the network, PIP_INDEX_URL and https_proxy, and run make again.",
    ]
    # The second run, with the environment of the first, does the same.
    variables |= {"PIP_NO_INDEX": "1"}
    assert run_make(checkout, "run", **variables) == [
        "Installing the dependencies in .venv.",
        "pip cannot install the dependencies: see .venv/pip.log, and run make again.",
    ]
    assert "No matching distribution found" in (checkout / ".venv" / "pip.log").read_text()
