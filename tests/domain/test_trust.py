"""The summary of what a directory knows about an entry."""

from __future__ import annotations

from itertools import product
from typing import Any

from attrs import evolve

from directory_server.domain.check_views import VerificationView
from directory_server.domain.checks import VerifiedStatus
from directory_server.domain.details import detail_of
from directory_server.domain.entries import Entry
from directory_server.domain.trust import TEXTS, hit_text, known_of, listed_words, trust_text, trust_words
from directory_server.domain.views import Detail, Hit, IdentityView

UNKNOWN = detail_of(Entry({"name": "x/a", "version": "1"}))


def checked(tools: int, *hints: str, more: bool = False) -> Detail:
    """Return an entry that answers and has `tools`, whose hints say `hints`."""
    view = VerificationView(
        status="works",
        checked_at="2027-01-15T08:00:01Z",
        auth="",
        protocol_versions=(),
        package="",
        names_server=None,
        tool_count=tools,
        has_more_tools=more,
        tool_hints=hints,
    )
    return evolve(UNKNOWN, verified="works", verification=view, publisher="verified")


def test_unknown_is_said_as_unknown() -> None:
    assert trust_text(UNKNOWN) == "Publisher unknown · not checked · tools unknown"
    assert not any(word.is_bad for word in trust_words(UNKNOWN))


def test_what_is_known_is_said_with_its_date() -> None:
    text = trust_text(checked(2, "read-only"))
    assert text == "Publisher verified · answers · 2 tools, all read only · checked 2027-01-15T08:00Z"
    assert "1 tool, some may delete" in trust_text(checked(1, "may-delete"))


def test_tools_are_counted() -> None:
    assert " · 14 tools · " in trust_text(checked(14))
    assert " · 100+ tools · " in trust_text(checked(100, more=True))
    assert " · 1+ tools · " in trust_text(checked(1, more=True))


def test_lists_leave_out_what_they_mark_apart() -> None:
    hit = Hit("1", "a", "b", "c", status="deprecated", flags=("lookalike",))
    assert not listed_words(hit, None)
    hit, view = evolve(hit, publisher="verified", verified="works"), checked(2, "read-only").verification
    words = [(word.key, *word.about) for word in listed_words(hit, view)]
    assert words == [("publisher_verified",), ("check_works",), ("tools", "hinted_read-only"), ("checked",)]
    # The mark of a vendor says so already.
    assert "publisher_verified" not in [word.key for word in listed_words(evolve(hit, vendor=True), view)]
    # A deprecated package has no mark of its own.
    assert [word.key for word in listed_words(evolve(hit, status="active", retired=True), None)][1] == "retired"


def test_the_text_of_a_hit_has_all_that_is_known() -> None:
    hit = Hit("1", "a", "b", "c")
    assert hit_text(hit) == ""
    hints: tuple[tuple[str, ...], ...] = (), ("read-only",), ("may-delete",), ("no-hints",)
    for publisher, status, retired, given in product(("verified", "unknown"), VerifiedStatus, (True, False), hints):
        known: dict[str, Any] = {"publisher": publisher, "verified": status.value}
        known |= {"retired": retired, "tool_hints": given}
        assert known_of(hit_text(evolve(hit, **known))) == known


def test_what_is_bad_is_said() -> None:
    archived = evolve(UNKNOWN, identity=(IdentityView("archived", "lists of servers", None, ""),))
    assert "not maintained" in trust_text(archived)
    bad = evolve(UNKNOWN, status="deleted", flags=("lookalike", "secrets"), verified="down")
    assert trust_text(bad) == (
        "Publisher unknown · removed · flagged, lookalike, secrets · does not answer · tools unknown"
    )
    assert [word.key for word in trust_words(bad) if word.is_bad] == ["status_deleted", "flagged", "check_down"]
    assert "deprecated" in trust_text(evolve(UNKNOWN, status="deprecated"))


def test_every_status_of_checks_has_a_text() -> None:
    assert {f"check_{status.value}" for status in VerifiedStatus} <= TEXTS.keys()
