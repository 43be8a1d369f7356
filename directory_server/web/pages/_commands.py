"""Commands for people to paste: the words of a command as each shell splits them.

Sources: POSIX.1-2024, XCU 2.2; fishshell.com/docs/current/language.html#quotes; about_Parsing and about_Quoting_Rules
of PowerShell; CommandLineToArgvW and `cmd /?` of Windows. `claude` may be a program, a script of PowerShell or a batch
file. Windows PowerShell quotes only words with blanks when it starts a program, and escapes nothing in them. cmd.exe
reads the line of a batch file twice.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ... import serialization
from ...texts.sanitize import is_visible

# A script of PowerShell does not receive a `--` without quotes; a number would be written in another form.
_BARE = re.compile(r"(?:--)?[A-Za-z][A-Za-z0-9_./@-]*")
"""Words that no shell reads otherwise."""

_QUOTED = re.compile(r"[A-Za-z0-9_./:=+@,~{}*?#;\[\] -]+")
"""Words that all shells read as they are in double quotes."""

_POWERSHELL = re.compile(r"[^\x00-\x1f\x7f-\U0010ffff\"%!^&|<>()]+")
"""Words that Windows PowerShell can pass on, to batch files too."""

_COMMAND_PROMPT = re.compile(r"[^\x00-\x1f\x7f-\U0010ffff\"%!]*")
"""Words that cmd.exe reads as they are in double quotes, in the line of a batch file too."""


def commands(words: Sequence[str | Mapping[str, Any]]) -> Sequence[tuple[Sequence[str], str]]:
    """Return the command of `words`, once for all shells that share its text, after the names of these shells.

    A shell in which a word cannot be written is left out.
    """
    texts = [word if isinstance(word, str) else serialization.encode(word).decode() for word in words]
    shells_of: dict[str, list[str]] = {}
    for shell, quote in SHELLS.items():
        quoted = [word if _BARE.fullmatch(word) else _common(word) or quote(word) for word in texts]
        if words and all(quoted):
            shells_of.setdefault(" ".join(quoted), []).append(shell)
    return [(shells, text) for text, shells in shells_of.items()]


def _common(word: str) -> str:
    return f'"{word}"' if _QUOTED.fullmatch(word) else ""


def _unix(word: str) -> str:
    """Return a word for POSIX shells and fish, which has escapes in single quotes; empty if it is not visible."""
    if not is_visible(word):
        return ""
    # The groups are: a text for single quotes, or a character with a backslash.
    return re.sub(r"([^'\\]+)|(.)", lambda part: f"'{part[1]}'" if part[1] else f"\\{part[2]}", word) or "''"


def _powershell(word: str) -> str:
    # A backslash in front of the quote that Windows PowerShell adds to a word with a blank would escape it.
    if not _POWERSHELL.fullmatch(word) or (" " in word and word.endswith("\\")):
        return ""
    return "'{}'".format(word.replace("'", "''"))


def _command_prompt(word: str) -> str:
    return f'"{word}"' if _COMMAND_PROMPT.fullmatch(word) and not word.endswith("\\") else ""


SHELLS: dict[str, Callable[[str], str]] = {
    "bash, zsh, fish": _unix,
    "PowerShell": _powershell,
    "Command Prompt": _command_prompt,
}
"""By name: a function that quotes a word, and returns an empty text if the shell cannot read the word."""
