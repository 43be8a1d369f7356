"""Numbers with nouns."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import directory_server
from directory_server.domain.errors import QuotaExceeded, Throttled, TooManyKeys
from directory_server.domain.quota import Allowance
from directory_server.texts.wording import counted, duration, entries, wait


@pytest.mark.parametrize(("number", "text"), [(0, "0 keys"), (1, "1 key"), (2, "2 keys"), (1_000, "1,000 keys")])
def test_only_one_is_singular(number: int, text: str) -> None:
    assert counted(number, "key") == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 seconds"),
        (1, "1 second"),
        (60, "1 minute"),
        (90, "1 minute 30 seconds"),
        (3_600, "1 hour"),
        (5_400, "1 hour 30 minutes"),
        (259_200, "3 days"),
        (100_000.4, "1 day 3 hours 46 minutes 40 seconds"),
        (86_400 * 1_000, "1,000 days"),
    ],
)
def test_duration_has_whole_units(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_entries_have_a_plural_of_their_own() -> None:
    assert [entries(0), entries(1), entries(26_000)] == ["0 entries", "1 entry", "26,000 entries"]


def test_errors_use_the_singular() -> None:
    assert "its 1 request of the last 60 minutes. Try again in 1 second." in str(QuotaExceeded(ALLOWANCE))
    assert str(Throttled(1)) == "Too many requests. Try again in 1 second."
    assert str(Throttled(3_599)) == "Too many requests. Try again in 60 minutes."
    assert "limit of 1 key." in str(TooManyKeys(1))


ALLOWANCE = Allowance(limit=1, remaining=0, reset=1)

NUMBER = re.compile(
    r"(?<!at most )"
    r"\{[^{}\"'A-Z]*(:,|count|number|dropped|rejected|len\([^{}]*\))\} ([a-z]+ )?"
    r"(entries|keys|accounts|versions|connections|clients|streams|processes|tokens|sessions|links|pages|lines)\b"
)
"""A number that is written before a plural, which is wrong for 1."""


def test_no_message_has_a_number_before_a_fixed_plural() -> None:
    package = Path(directory_server.__file__).parent
    found = [
        f"{path.relative_to(package)}: {match.group()}"
        for path in sorted(package.rglob("*.py"))
        for match in NUMBER.finditer(path.read_text("utf-8"))
    ]
    assert found == []


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(1, "1 second"), (120, "120 seconds"), (121, "3 minutes"), (3_599, "60 minutes"), (7_201, "3 hours")],
)
def test_waits_are_rounded_up(seconds: int, text: str) -> None:
    assert wait(seconds) == text
