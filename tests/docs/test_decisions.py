"""The decisions stay few and short, and their index names each."""

from __future__ import annotations

import re

from ._examples import ROOT

MAX_DECISIONS = 40
MAX_WORDS = 400
MAX_WORDS_IN_ALL = 10_600

DECISIONS = sorted((ROOT / "docs" / "decisions").glob("0*.md"))


def words(text: str) -> int:
    """Return the number of words in `text`, without the marks of Markdown."""
    return sum(re.search(r"\w", word) is not None for word in text.split())


def test_decisions_are_few_and_short() -> None:
    counts = {path.name: words(path.read_text("utf-8")) for path in DECISIONS}
    assert len(counts) <= MAX_DECISIONS
    assert {name: count for name, count in counts.items() if count > MAX_WORDS} == {}
    assert sum(counts.values()) <= MAX_WORDS_IN_ALL


def test_decisions_have_their_parts() -> None:
    for path in DECISIONS:
        text = path.read_text("utf-8")
        for part in ("**Context.**", "**Decision", "**Consequences.**", "**Rejected.**"):
            assert part in text, f"{path.name} has no {part}"


def test_the_index_names_every_decision() -> None:
    index = (ROOT / "docs" / "decisions" / "README.md").read_text("utf-8")
    assert sorted(set(re.findall(r"\]\((0\d+[\w-]*\.md)\)", index))) == [path.name for path in DECISIONS]


def test_words_are_counted_without_marks() -> None:
    assert words("| two words | **and** `three` |\n|---|---|") == 4
