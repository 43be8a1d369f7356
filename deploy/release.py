"""Build the files of a release and try them: python deploy/release.py FOLDER. `make release` runs it.

FOLDER gets the source distribution, and a wheel for all systems that is built from it, so that it is known to be
complete. The wheel is installed in a new environment, where a server starts and stops. A bill of materials (CycloneDX)
has the dependencies of requirements.lock with licences. Nothing is uploaded.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

START_TIMEOUT = 60
"""Seconds in which an installed server must start, and in which it must stop."""


def run(*words: object, cwd: Path | None = None) -> None:
    """Run a command of this environment. Its failure ends this program."""
    subprocess.run([str(word) for word in words], check=True, cwd=cwd)


def build(folder: Path) -> tuple[Path, Path]:
    """Build the source distribution in `folder`, and the wheel from it; return their paths."""
    run(sys.executable, "-m", "build", "--outdir", folder, ".")
    (archive,), (wheel,) = folder.glob("*.tar.gz"), folder.glob("*.whl")
    if not wheel.name.endswith("-py3-none-any.whl"):
        raise SystemExit(f"{wheel.name} is not a wheel for all systems.")
    return archive, wheel


def try_wheel(wheel: Path, folder: Path) -> None:
    """Install `wheel` in a new environment in `folder`; start its server and stop it."""
    run(sys.executable, "-m", "venv", folder)
    # A dependency without a wheel would need a compiler.
    install = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--only-binary", ":all:")
    run(folder / "bin" / "python", *install, wheel, cwd=folder)
    run(folder / "bin" / "directory-server", "--version", cwd=folder)
    options = ("--data-dir", "data", "--listen", "tcp:0:interface=127.0.0.1")
    run(folder / "bin" / "twistd", "--pidfile=server.pid", "--logfile=server.log", "directory", *options, cwd=folder)
    log = folder / "server.log"

    def wait(condition: Callable[[], bool], what: str) -> None:
        deadline = time.monotonic() + START_TIMEOUT
        while not condition():
            if time.monotonic() > deadline:
                raise SystemExit(f"The server of {wheel.name} has not {what}:\n{log.read_text()}")
            time.sleep(0.1)

    # The command returns before the reactor runs. A signal would then end the process at once, without a clean stop.
    wait(lambda: "Serving 0 entries" in log.read_text(), "started")
    os.kill(int((folder / "server.pid").read_text()), signal.SIGTERM)
    wait(lambda: not (folder / "server.pid").exists(), "stopped")


def write_bill(wheel: Path, environment: Path, file: Path) -> None:
    """Write the software bill of materials of `wheel` with the locked dependencies, in CycloneDX 1.6, to `file`.

    They are installed in a new `environment` without pip, which would be in the bill otherwise.
    """
    run(sys.executable, "-m", "venv", "--without-pip", environment)
    python = environment / "bin" / "python"
    install = (sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--disable-pip-version-check")
    run(*install, "--only-binary", ":all:", "--require-hashes", "--requirement", "requirements.lock")
    run(*install, "--no-deps", wheel)
    options = ("--pyproject", "pyproject.toml", "--output-reproducible", "--output-format", "JSON", "--validate")
    run("cyclonedx-py", "environment", python, *options, "--output-file", file)


def main() -> None:
    """Build, check and try all files."""
    folder = Path(sys.argv[1]).resolve()
    folder.mkdir()
    archive, wheel = build(folder)
    # W009: the plugin of Twisted is beside the package.
    run("check-wheel-contents", "--ignore", "W009", wheel)
    run("twine", "check", "--strict", wheel, archive)
    with tempfile.TemporaryDirectory() as temporary:
        try_wheel(wheel, Path(temporary) / "environment")
        name, version, *_ = wheel.stem.split("-")
        write_bill(wheel, Path(temporary) / "bill", folder / f"{name}-{version}.cdx.json")


if __name__ == "__main__":
    main()
