"""`pytest --workers`: results of forked processes are those of one process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from .process.conftest import TIMEOUT

pytestmark = pytest.mark.process

TESTS = {
    "test_a": "def test_fails():\n    print('printed')\n    assert 1 == 2\ndef test_passes(tmp_path): pass",
    "test_b": "import warnings\ndef test_warns(): warnings.warn('warned')",
    "test_c": "import os\ndef test_is_killed(): os.kill(os.getpid(), 9)\ndef test_is_not_run(): pass",
    "test_d": "def test_passes(): pass",
}


def run(folder: Path, *names: str) -> tuple[int, str]:
    """Return the exit code and the output of pytest with the tests `names`."""
    for name in names:
        (folder / f"{name}.py").write_text(TESTS[name])
    command = [sys.executable, "-m", "pytest", "-p", "tests.workers", "--workers=2", str(folder)]
    root = Path(__file__).parents[1]
    env = {
        **os.environ,
        "PYTHONPATH": str(root),
        "PYTEST_ADDOPTS": "",
        "PYTEST_PLUGINS": "",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    }
    done = subprocess.run(command, cwd=folder, env=env, timeout=TIMEOUT, capture_output=True, text=True)
    return done.returncode, done.stdout


def test_results_and_outputs_of_all_workers_are_reported(tmp_path: Path) -> None:
    code, output = run(tmp_path, "test_a", "test_b", "test_d")
    assert code == 1
    assert "1 failed, 3 passed, 1 warning" in output
    assert "assert 1 == 2" in output
    assert "printed" in output
    assert "UserWarning: warned" in output


def test_a_worker_that_is_killed_fails_the_run(tmp_path: Path) -> None:
    code, output = run(tmp_path, "test_b", "test_c", "test_d")
    assert code == 1
    assert "A worker ended with -9; its last test was test_c.py::test_is_killed." in output
    assert "2 passed" in output


def test_all_that_pass_are_a_success(tmp_path: Path) -> None:
    assert run(tmp_path, "test_b", "test_d")[0] == 0
