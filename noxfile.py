"""Test sessions: each supported Python, the lowest dependencies and the newest Twisted."""

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
