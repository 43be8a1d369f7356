"""Fuzz the compiled engine in a folder: python -m tests.fuzz FOLDER [--seed N] [--seconds N] [TARGET …].

`tests/fuzz/test_sanitizers.py` builds the folder and runs this with the run-time libraries of the sanitizers.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from random import Random
from types import ModuleType

ENGINE = "directory_server.search._engine"


def module_path(folder: Path) -> Path:
    """Return the path of the engine in `folder`."""
    return folder / "_engine.abi3.so"


def load(folder: Path) -> ModuleType:
    """Import the engine from `folder`, also for the package itself."""
    spec = spec_from_file_location(ENGINE, module_path(folder))
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[ENGINE] = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main() -> None:
    """Run each target with its number of inputs, or with as many as an equal part of the seconds allows.

    The file `seed` of the folder has the seed of the last input.
    """
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("targets", nargs="*")
    parser.add_argument("--seed", default="1", help="the first part of the seed of each input")
    parser.add_argument("--seconds", type=float, help="seconds of processor time in all, instead of numbers of inputs")
    options = parser.parse_args()
    # The package imports the engine once, so this one is loaded before it.
    module = load(options.folder)
    from .shares import Shares
    from .targets import TARGETS

    seeds = os.open(options.folder / "seed", os.O_WRONLY | os.O_CREAT)
    shares, names = Shares(), options.targets or [*TARGETS]
    for name in names:
        target, count = TARGETS[name]
        number, end = 0, time.process_time() + (options.seconds or 0) / len(names)
        while time.process_time() < end if options.seconds else number < count:
            seed = f"{options.seed}/{name}/{number}"
            # A sanitizer ends the process at once.
            os.pwrite(seeds, seed.encode().ljust(80) + b"\n", 0)
            target(Random(seed), module, shares)
            number += 1
        print(f"{name}: {number} inputs, {time.process_time():.1f} s")
    print(*shares.lines(), sep="\n")
    if shares.too_low():
        sys.exit(f"fewer than a third of the inputs are valid: {', '.join(shares.too_low())}")


if __name__ == "__main__":
    main()
