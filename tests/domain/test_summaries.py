"""Summaries of entries: short texts that are not cut inside a fact."""

from __future__ import annotations

import pytest

from directory_server.domain.entries import PUBLISHER, Entry
from directory_server.domain.limits import SUMMARY
from directory_server.texts.sanitize import shorten

WHOLE = "Reads mail from several accounts, sorts it into folders, and writes drafts of answers for review."


@pytest.mark.parametrize(
    ("brief", "long", "summary"),
    [
        ("Reads mail.", "Another text.", "Reads mail."),
        ("Reads mail from several…", WHOLE, WHOLE),
        ("Reads mail from several...", f"{WHOLE}\n\nMore.", f"{WHOLE} More."),
        ("Reads mail from several…", f"{WHOLE} {WHOLE} {WHOLE}", f"{WHOLE} {WHOLE}"),
        ("Reads mail from several…", "", "Reads mail from several…"),
        ("", "A text.", ""),
    ],
)
def test_a_cut_description_is_continued(brief: str, long: str, summary: str) -> None:
    server = {"name": "a/b", "version": "1", "description": brief, "_meta": {PUBLISHER: {"longDescription": long}}}
    assert Entry(server).hit().summary == summary
    assert len(summary) <= SUMMARY


@pytest.mark.parametrize(
    ("text", "shortened"),
    [
        ("Short.", "Short."),
        ("Shows a draft in the chat. After calling this tool: 1. Send it to", "Shows a draft in the chat."),
        (
            "Finds journeys by train, ferry and coach, e.g. between two towns",
            "Finds journeys by train, ferry and coach, e.g.…",
        ),
        (
            "Finds journeys by train, ferry and coach, between the two towns of",
            "Finds journeys by train, ferry and coach…",
        ),
        ("検索します。" * 20, "検索します。" * 8),
        ("a" * 60, "a" * 47 + "…"),
    ],
)
def test_a_shortened_text_ends_with_a_sentence_or_a_word(text: str, shortened: str) -> None:
    assert shorten(text, 48) == shortened
    assert len(shortened) <= 48
