"""Test sessions: each supported Python, the lowest dependencies, the newest Twisted, no C compiler."""

import shutil

import nox

nox.options.sessions = ["tests"]
nox.options.error_on_missing_interpreters = False

PYTHONS = ["3.11", "3.12", "3.13"]
FAST = ("-q", "-n", "auto", "--maxprocesses=4", "--dist=loadfile", "-m", "not process and not browser")


@nox.session(python=PYTHONS)
def tests(session: nox.Session) -> None:
    """Run the fast tests, or those named after `--`."""
    session.install("--editable", ".[dev]")
    session.run("pytest", *(session.posargs or FAST))


@nox.session(python="3.11")
def lowest(session: nox.Session) -> None:
    """Run the fast tests with the lower bounds that pyproject.toml states for the run-time dependencies."""
    pyproject = nox.project.load_toml("pyproject.toml")
    session.install("--editable", ".[dev]")
    session.install(*[bound.replace(">=", "==") for bound in pyproject["project"]["dependencies"]])
    session.run("pytest", *(session.posargs or FAST))


@nox.session(python=PYTHONS[-1])
def newest_twisted(session: nox.Session) -> None:
    """Run the fast tests with the newest Twisted, prereleases included."""
    session.install("--editable", ".[dev]")
    session.install("--upgrade", "--pre", "twisted")
    session.run("pytest", *(session.posargs or FAST))


@nox.session(python=PYTHONS[0])
def fuzz(session: nox.Session) -> None:
    """Fuzz the compiled engine with sanitizers. FUZZ_SEED gives another seed, FUZZ_SECONDS longer runs."""
    session.install("--editable", ".[dev]")
    session.run("pytest", "-q", "-rs", "tests/fuzz", *session.posargs)


@nox.session(python=PYTHONS[0])
def without_compiler(session: nox.Session) -> None:
    """Install as on a machine without a C compiler, and run the tests of the search with numpy in place of C."""
    # A module that an earlier build compiled would be installed.
    shutil.rmtree("build", ignore_errors=True)
    session.install(".", env={"CC": "false"})
    check = "from directory_server.search.index.arrays import engine; assert engine is None, engine"
    with session.chdir(session.create_tmp()):
        session.run("python", "-c", check)
    session.install("--editable", ".[dev]")
    session.run("pytest", *(session.posargs or ("-q", "tests/search", "tests/serialization")), env={"ENGINE": "none"})
