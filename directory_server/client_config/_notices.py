"""Reasons why an installation is unavailable, and warnings to read before using one."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import field, frozen

from ..texts.sanitize import clean_line
from ._data import NOTICES

MAX_SUBJECT = 100
"""Characters of the part of an entry that a notice quotes."""

_ASCII_QUOTES = str.maketrans({"“": '"', "”": '"', "’": "'"})

REASONS, WARNINGS = (
    {code: text.translate(_ASCII_QUOTES) for code, text in texts.items()} for texts in NOTICES.values()
)
"""Messages by code. `{subject}` is the part of the entry that the message is about."""

REVIEWED = frozenset(("arguments", "fixed_host"))
"""Codes of warnings that a person must read first: there is no link that installs the server at once."""


@frozen
class Notice:
    """A reason or a warning: its `code`, the part of the entry it is about, and a readable message."""

    code: str = field(metadata={"description": "Machine-readable code; it does not change."})
    subject: str = field(
        metadata={
            "description": "Part of the entry that the notice is about: publisher's text.",
            "maxLength": MAX_SUBJECT,
        }
    )
    message: str = field(metadata={"description": "Human-readable text; it may change."})


class Unusable(Exception):
    """No safe and complete configuration is possible for a package or remote. The code is one of REASONS."""

    def __init__(self, code: str, subject: str = "") -> None:
        super().__init__(code, subject)
        self.notice = _notice(REASONS, code, subject)


def warning(code: str, subject: str = "") -> Notice:
    """Return the warning `code` about `subject`."""
    return _notice(WARNINGS, code, subject)


def _notice(messages: Mapping[str, str], code: str, subject: str) -> Notice:
    quoted = clean_line(subject, MAX_SUBJECT)
    return Notice(code, quoted, messages[code].replace("{subject}", quoted))
