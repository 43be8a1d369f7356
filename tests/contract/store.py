"""Entries of tests, and an Analysis of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from attrs import define

from directory_server.domain.changes import Change
from directory_server.domain.entries import OFFICIAL, Entry

NAME = "io.example/weather"


@define
class Briefs:
    """An Analysis that records its version and its input."""

    version: str = "1"

    def __call__(self, entry: Entry) -> bytes:
        return f"{self.version} {entry.name} {entry.brief}".encode()


@define
class CountingBriefs(Briefs):
    """An Analysis that counts its calls."""

    calls: int = 0

    def __call__(self, entry: Entry) -> bytes:
        self.calls += 1
        return super().__call__(entry)


def entry(name: str = NAME, version: str = "1.0.0", brief: str = "It rains.", **official: Any) -> Entry:
    meta = {OFFICIAL: official} if official else {}
    return Entry({"name": name, "version": version, "description": brief}, meta)


def name_of(entry: Entry) -> str:
    return entry.name


def brief_of(entry: Entry) -> str:
    return entry.brief


def kinds(changes: Sequence[Change]) -> list[str]:
    return [change.kind for change in changes]


ODD_NAMES = ("x/-", "x/A", "x/B", "x/_", "x/a", "x/b", "x/b-", "x/bA", "x/ß", "x/é", "x/一", "x/\U0001f600")
"""Names in the order of their code points, which is not that of a dictionary."""

ODD_VERSIONS = ("1.0.0", "1.0.0-B", "1.0.0-a", "V1", "v1", "é1")
