"""Manual pages, shell completions and files of systemd, as `make share` generates them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.shell_completion import BashComplete, FishComplete, ShellComplete, ZshComplete

from directory_server.command_line import main as command
from directory_server.config import describe, load
from directory_server.features import sections

from ..process.test_proxies import DOCUMENT
from .container import ROOT

pytestmark = pytest.mark.process

PAGES = ["directory-server.1", "twistd-directory.1"]

SHELLS: dict[str, type[ShellComplete]] = {"bash": BashComplete, "zsh": ZshComplete, "fish": FishComplete}

PATH = f"{Path(sys.executable).parent}:{os.environ['PATH']}"

BASH = """
source "$1"; COMP_WORDS=(directory-server "${@:2}"); COMP_CWORD=$(( ${#COMP_WORDS[@]} - 1 )); COMPREPLY=()
_directory_server_completion directory-server; printf '%s\\n' "${COMPREPLY[@]}"
"""
"""A bash that completes the words that follow the script. `compopt` works in a real completion only."""

ZSH = """
compdef() { : }; _path_files() { : }; _describe() { print -l -- ${(P)3} }; compadd() { print -l -- ${(P)@[-1]} }
script=$1; words=(directory-server "${@:2}"); CURRENT=$#words
source $script; _directory_server_completion
"""


TWISTD_BASH = """
source "$1"; COMP_WORDS=(twistd "${@:2}"); COMP_CWORD=$(( ${#COMP_WORDS[@]} - 1 ))
_twistd_directory twistd "${COMP_WORDS[-1]}" "${COMP_WORDS[-2]}"; printf '%s\\n' "${COMPREPLY[@]}" | sed '/^$/d'
"""


@pytest.fixture(scope="module")
def share(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder with the generated files."""
    folder = tmp_path_factory.mktemp("share")
    subprocess.run([sys.executable, "deploy/share.py", folder], check=True, cwd=ROOT, timeout=120)
    return folder


def run(*words: object, **variables: str) -> str:
    """Return the output of a command, with the errors. The commands of this environment come first."""
    done = subprocess.run(
        [str(word) for word in words],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env={**os.environ, "PATH": PATH, "LC_ALL": "C.UTF-8", **variables},
    )
    return done.stdout + done.stderr


def needs(program: str) -> None:
    if shutil.which(program, path=PATH) is None:
        pytest.skip(f"{program} is not installed")


def leaves(group: click.Group, words: str) -> Iterator[tuple[str, click.Command]]:
    for name, each in group.commands.items():
        if isinstance(each, click.Group):
            yield from leaves(each, f"{words}{name} ")
        else:
            yield f"{words}{name}", each


def page_text(share: Path, name: str) -> str:
    """Return a manual page as a terminal shows it, on one line."""
    needs("groff")
    shown = run("groff", "-man", "-Tutf8", "-P-cbou", share / "share/man/man1" / name)
    return " ".join(shown.replace("\u2010\n", "").replace("\u2010", "-").split())


@pytest.mark.parametrize("name", PAGES)
def test_manual_pages_have_no_warnings(share: Path, name: str) -> None:
    needs("groff")
    assert run("groff", "-man", "-ww", "-z", "-Tutf8", share / "share/man/man1" / name) == ""


@pytest.mark.parametrize("name", PAGES)
def test_mandoc_accepts_the_manual_pages(share: Path, name: str) -> None:
    needs("mandoc")
    # Same source, same page: it has no date.
    found = run("mandoc", "-T", "lint", "-W", "warning", share / "share/man/man1" / name)
    assert [line for line in found.splitlines() if "missing date" not in line] == []


def test_the_manual_has_every_command_and_option(share: Path) -> None:
    text = page_text(share, PAGES[0])
    for words, each in leaves(command, ""):
        assert f" {words} " in text
        names = {name for option in each.params if isinstance(option, click.Option) for name in option.opts}
        assert {name for name in names if name not in text} == set()
    assert text.count("--help") == 1


def test_the_manual_of_the_server_has_every_option_and_setting(share: Path) -> None:
    text = page_text(share, PAGES[1])
    assert "-c, --config=VALUE TOML file of settings." in text
    assert "-l, --listen=VALUE Twisted endpoint to listen on" in text
    assert "--reuse-port " in text
    for setting in describe(load(file=None, environ={}, settings=[], sections=sections())):
        assert f" {setting.name} = " in text


def test_man_shows_the_pages(share: Path) -> None:
    needs("man")
    shown = run("man", "directory-server", MANPATH=str(share / "share/man"), MANPAGER="cat", MANWIDTH="80")
    assert "manage a directory of MCP servers" in shown


def completions(share: Path, shell: str, words: list[str], **variables: str) -> list[str]:
    """Return what a shell completes the last of `words` to."""
    if shell == "bash":
        script = share / "share/bash-completion/completions/directory-server"
        return run("bash", "--norc", "-c", BASH, "bash", script, *words, **variables).splitlines()
    if shell == "zsh":
        script = share / "share/zsh/site-functions/_directory-server"
        shown = run("zsh", "-f", "-c", ZSH, "zsh", script, *words, **variables)
        return [line.partition(":")[0] for line in shown.splitlines()]
    script = share / "share/fish/vendor_completions.d/directory-server.fish"
    line = " ".join(["directory-server", *words])
    shown = run("fish", "--no-config", "-c", f"source {script}; complete --do-complete '{line}'", **variables)
    return [line.partition("\t")[0] for line in shown.splitlines()]


# The command completes the words of all shells. Their scripts differ: in what they do with a description, which
# commands have, and with a word that continues.
@pytest.mark.parametrize(
    ("words", "completed"), [(["account", "dis"], ["disable"]), (["--set", "quota.l"], ["quota.limit="])]
)
@pytest.mark.parametrize("shell", SHELLS)
def test_shells_complete_commands_and_options(
    share: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shell: str, words: list[str], completed: list[str]
) -> None:
    """A program in place of the command records the question of the shell, then gives the answer of the command."""
    needs(shell)
    program, asked, answer = (tmp_path / name for name in ("directory-server", "asked", "answer"))
    program.write_text(f'#!/bin/sh\nprintf "%s\\n" "$COMP_WORDS" "$COMP_CWORD" > {asked}\ncat {answer}\n')
    program.chmod(0o755)
    answer.touch()
    path = f"{tmp_path}:{PATH}"
    completions(share, shell, words, PATH=path)
    # Bash has a line for each word.
    all_words, _, current = asked.read_text().rstrip("\n").rpartition("\n")
    monkeypatch.setenv("COMP_WORDS", all_words)
    monkeypatch.setenv("COMP_CWORD", current)
    answer.write_text(f"{SHELLS[shell](command, {}, 'directory-server', '').complete()}\n")
    assert completions(share, shell, words, PATH=path) == completed


def test_the_command_answers_a_shell(share: Path) -> None:
    assert completions(share, "bash", ["status", "--js"]) == ["--json"]


@pytest.mark.parametrize(
    ("words", "completed"),
    [
        (["--noda"], ["--nodaemon"]),
        (["--nodaemon", "directory", "--reu"], ["--reuse-port"]),
        (["directory", "--data-dir", "tests/depl"], ["tests/deploy"]),
        (["directory", "--config", "pyproj"], ["pyproject.toml"]),
        (["directory", "--listen", "pyproj"], []),
    ],
)
@pytest.mark.parametrize("shell", ["bash", "fish"])
def test_shells_complete_the_server(share: Path, shell: str, words: list[str], completed: list[str]) -> None:
    needs(shell)
    if shell == "bash":
        script = share / "share/bash-completion/completions/twistd"
        found = run("bash", "--norc", "-c", TWISTD_BASH, "bash", script, *words).splitlines()
    else:
        script = share / "share/fish/vendor_completions.d/twistd.fish"
        line = " ".join(["twistd", *words])
        shown = run("fish", "--no-config", "-c", f"source {script}; complete --do-complete '{line}'")
        found = [each.partition("\t")[0] for each in shown.splitlines()]
    assert [each.rstrip("=/ ") for each in found] == [each.rstrip("=") for each in completed]


def test_zsh_gets_the_completion_of_the_server_from_twistd() -> None:
    # The function `_twisted` of zsh calls the command like this, and evaluates the output.
    shown = run("twistd", "directory", "--set", "quota.l", "--_shell-completion", "zsh:4")
    options = {line.partition("[")[0]: line.rpartition("]:")[2] for line in shown.splitlines()}
    assert options["'(-c)--config="].startswith('config (*.toml):_files -g "*.toml"')
    assert options["'(-d)--data-dir="].startswith("data-dir:_directories")
    # They may be given more than once.
    assert options["'*--listen="].startswith("listen:'")
    assert " quota.limit= " in options["'*--set="]


def test_the_user_and_the_data_directory_are_created(share: Path, tmp_path: Path) -> None:
    needs("systemd-sysusers")
    (tmp_path / "etc").mkdir()
    run("systemd-sysusers", f"--root={tmp_path}", share / "lib/sysusers.d/directory-server.conf")
    user = (tmp_path / "etc/passwd").read_text("utf-8")
    assert ":MCP directory server:/var/lib/directory-server:/usr/sbin/nologin" in user
    run("systemd-tmpfiles", "--create", f"--root={tmp_path}", share / "lib/tmpfiles.d/directory-server.conf")
    assert (tmp_path / "var/lib/directory-server").stat().st_mode & 0o777 == 0o700


def test_install_commands_are_documented() -> None:
    text = DOCUMENT.read_text("utf-8")
    commands = (
        "make share",
        "cp -r build/share build/lib /usr/local/",
        "systemd-sysusers",
        "systemd-tmpfiles --create",
    )
    assert [each for each in commands if each not in text] == []
