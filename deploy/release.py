"""Build the files of a release and try them: python deploy/release.py FOLDER. `make release` runs it.

FOLDER gets the source distribution, a wheel for each platform of PLATFORMS with compiled modules, and one without. The
wheels are built from the source distribution, so that it is known to be complete. zig compiles for systems with
an old glibc and for other processors. auditwheel states the oldest system of a wheel, and abi3audit that all later
versions of Python can load it. The wheels that fit this machine are installed where there is no compiler, and each
starts a server and stops it. A bill of materials (CycloneDX) has the dependencies of requirements.lock with licences.
Nothing is uploaded.
"""

from __future__ import annotations

import os
import platform
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

GLIBC = "2.17"
"""The oldest version of glibc that the wheels need. 2.17 is that of manylinux2014 (PEP 599)."""

PLATFORMS = ("x86_64", "aarch64")
"""The processors for which wheels are compiled."""

START_TIMEOUT = 60
"""Seconds in which an installed server must start, and in which it must stop."""


def run(*words: object, cwd: Path | None = None, variables: Mapping[str, str] = MappingProxyType({})) -> None:
    """Run a command of this environment, with these further variables. Its failure ends this program."""
    subprocess.run([str(word) for word in words], check=True, cwd=cwd, env={**os.environ, **variables})


def build_wheel(source: Path, folder: Path, variables: Mapping[str, str]) -> Path:
    """Build a wheel of the tree `source` in the new `folder`; return its path."""
    run(sys.executable, "-m", "build", "--wheel", "--outdir", folder, source, variables=variables)
    (wheel,) = folder.glob("*.whl")
    return wheel


def compiler_variables(machine: str) -> dict[str, str]:
    """Return the variables with which setuptools compiles for `machine`, with old versions of glibc."""
    compiler = f"{sys.executable} -m ziglang cc -target {machine}-linux-gnu.{GLIBC}"
    # zig adds checks for undefined behaviour unless it optimises; -O3 comes from setup.py.
    return {
        "CC": compiler,
        "LDSHARED": f"{compiler} -shared -s",
        "_PYTHON_HOST_PLATFORM": f"linux-{machine}",
        "REQUIRE_COMPILED": "1",
    }


def build(folder: Path, temporary: Path) -> Iterator[Path]:
    """Yield the path of each wheel built in `folder`. The source distribution is built first."""
    run(sys.executable, "-m", "build", "--sdist", "--outdir", folder, ".")
    (archive,) = folder.glob("*.tar.gz")
    for name in ("none", *PLATFORMS):
        source = temporary / f"source-{name}"
        with tarfile.open(archive) as tar:
            tar.extractall(source, filter="data")
        (tree,) = source.iterdir()
        if name == "none":
            wheel = build_wheel(tree, temporary / "none", {"WITHOUT_COMPILED": "1"})
            yield Path(shutil.copy(wheel, folder))
            continue
        wheel = build_wheel(tree, temporary / name, compiler_variables(name))
        run("abi3audit", "--strict", wheel)
        run("auditwheel", "repair", "--only-plat", "--wheel-dir", temporary / f"{name}-audited", wheel)
        (audited,) = (temporary / f"{name}-audited").glob("*.whl")
        if f"manylinux_{GLIBC.replace('.', '_')}_{name}" not in audited.name:
            raise SystemExit(f"{audited.name} needs a newer system than glibc {GLIBC}.")
        yield Path(shutil.copy(audited, folder))


def try_wheel(wheel: Path, folder: Path) -> None:
    """Install `wheel` in a new environment in `folder`, without a compiler; start its server and stop it."""
    run(sys.executable, "-m", "venv", folder)
    # A dependency without a wheel would need a compiler: then the wheels of the server are of no use.
    install = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--only-binary", ":all:")
    python = folder / "bin" / "python"
    run(python, *install, wheel, cwd=folder, variables={"CC": "false"})
    has_compiled = wheel.stem.split("-")[-1] != "any"
    check = f"from directory_server.search.index.arrays import engine; assert (engine is not None) is {has_compiled}"
    run(python, "-c", check, cwd=folder)
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
    machine = platform.machine()
    with tempfile.TemporaryDirectory() as name:
        temporary = Path(name)
        for number, wheel in enumerate(list(build(folder, temporary))):
            # W009: the plugin of Twisted is beside the package.
            run("check-wheel-contents", "--ignore", "W009", wheel)
            if wheel.stem.endswith(("any", machine)):
                try_wheel(wheel, temporary / f"environment-{number}")
            if wheel.stem.endswith("any"):
                name, version, *_ = wheel.stem.split("-")
                write_bill(wheel, temporary / "bill", folder / f"{name}-{version}.cdx.json")
    run("twine", "check", "--strict", *sorted(folder.glob("*.whl")), *folder.glob("*.tar.gz"))


if __name__ == "__main__":
    main()
