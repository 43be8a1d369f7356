"""The compiled engine, built with AddressSanitizer and UndefinedBehaviorSanitizer, reads random and hostile input.

FUZZ_SEED gives another seed than 1. FUZZ_SECONDS replaces the numbers of inputs by seconds of processor time.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from directory_server.search.index.arrays import ENGINE_VERSION

from .__main__ import module_path
from .targets import TARGETS

ROOT = Path(__file__).parents[2]
FLAGS = ["-shared", "-fPIC", "-g", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
CC = "gcc"


def libraries() -> list[str]:
    """Return the paths of the run-time libraries of the sanitizers; skip the test if one or gcc is absent."""
    if shutil.which(CC) is None:
        pytest.skip("gcc is not installed")
    paths = []
    for name in ("libasan.so", "libubsan.so"):
        found = subprocess.run(
            [CC, f"-print-file-name={name}"], capture_output=True, text=True, check=True
        ).stdout.strip()
        if not os.path.isabs(found):
            pytest.skip(f"{name} of gcc is not installed")
        paths.append(os.path.realpath(found))
    return paths


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the sanitized engine."""
    libraries()
    folder = tmp_path_factory.mktemp("sanitized")
    given = [f"-I{sysconfig.get_path('include')}", f"-DENGINE_VERSION={ENGINE_VERSION}"]
    sources = sorted(map(str, (ROOT / "directory_server" / "search" / "engine").glob("*.c")))
    command = [CC, *FLAGS, *given, *sources, "-o", str(module_path(folder))]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    return folder


@pytest.mark.process
def test_the_sanitizers_find_nothing(folder: Path) -> None:
    options = [f"--seed={os.environ.get('FUZZ_SEED', '1')}"]
    if seconds := os.environ.get("FUZZ_SECONDS"):
        options.append(f"--seconds={seconds}")
    environment = {
        **os.environ,
        "LD_PRELOAD": " ".join(libraries()),
        # Python itself leaks at its end. Each object has memory of its own, with a red zone.
        "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1",
        "UBSAN_OPTIONS": "print_stacktrace=1",
        "PYTHONMALLOC": "malloc",
        "PYTHONPATH": str(ROOT),
        "OPENBLAS_NUM_THREADS": "1",
    }
    command = [sys.executable, "-m", "tests.fuzz", str(folder), *options]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    last = (folder / "seed").read_text().strip()
    assert done.returncode == 0, f"seed of the input: {last}\n{done.stdout[-2_000:]}{done.stderr[-8_000:]}"
    assert done.stdout.count(" inputs") == len(TARGETS)
