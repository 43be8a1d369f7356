"""Linters of the files that operators run: the Containerfile, scripts of the shell, generated completions."""

from __future__ import annotations

from pathlib import Path

import pytest

from .container import ROOT
from .test_share import needs, run, share

__all__ = ["share"]

FOLDERS = (".ci", "deploy", "tests", "bench")

SHELLS = ("#!/bin/sh", "#!/bin/bash", "#!/usr/bin/env bash")


def scripts() -> list[str]:
    """Return the scripts of the shell in the project, relative to it."""
    found = []
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.is_file() and path.suffix in ("", ".sh") and path.read_bytes()[:40].startswith(b"#!"):
                first = path.read_text("utf-8").partition("\n")[0]
                if first.startswith(SHELLS):
                    found.append(str(path.relative_to(ROOT)))
    return found


def test_the_containerfile_has_no_warnings() -> None:
    needs("hadolint")
    assert run("hadolint", ROOT / "Containerfile") == ""


def test_scripts_are_found() -> None:
    assert {".ci/run", "deploy/entrypoint", "tests/conformance/run"} <= set(scripts())


@pytest.mark.parametrize("script", scripts())
def test_scripts_have_no_warnings(script: str) -> None:
    needs("shellcheck")
    assert run("shellcheck", "--external-sources", f"--source-path={ROOT}", ROOT / script) == ""


def test_the_completion_of_bash_has_no_warnings(share: Path) -> None:
    needs("shellcheck")
    path = share / "share/bash-completion/completions/twistd"
    assert run("shellcheck", "--shell=bash", path) == ""


@pytest.mark.parametrize(
    ("shell", "option", "path"),
    [
        ("bash", "-n", "share/bash-completion/completions/directory-server"),
        ("zsh", "-n", "share/zsh/site-functions/_directory-server"),
        ("fish", "--no-execute", "share/fish/vendor_completions.d/directory-server.fish"),
        ("fish", "--no-execute", "share/fish/vendor_completions.d/twistd.fish"),
    ],
)
def test_completions_are_valid_in_their_shell(share: Path, shell: str, option: str, path: str) -> None:
    needs(shell)
    assert run(shell, option, share / path) == ""
