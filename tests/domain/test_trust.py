"""The summary of what a directory knows about an entry."""

from __future__ import annotations

from attrs import evolve

from directory_server.domain.check_views import FoundToolView, VerificationView
from directory_server.domain.checks import VerifiedStatus
from directory_server.domain.entries import Entry
from directory_server.domain.identity import IdentityView
from directory_server.domain.trust import TEXTS, trust_text, trust_words
from directory_server.domain.views import Detail

UNKNOWN = Entry({"name": "x/a", "version": "1"}).detail()


def checked(tools: int, *hints: bool, more: bool = False) -> Detail:
    """Return an entry that answers and has `tools`, of which those with `hints` are listed."""
    listed = [FoundToolView(f"tool-{number}", "", {"readOnlyHint": hint}) for number, hint in enumerate(hints)]
    view = VerificationView(
        status="works",
        checked_at="2027-01-15T08:00:01Z",
        auth="",
        protocol_versions=(),
        package="",
        names_server=None,
        tool_count=tools,
        has_more_tools=more,
        tools=listed,
    )
    return evolve(UNKNOWN, verified="works", verification=view, publisher="verified")


def test_unknown_is_said_as_unknown() -> None:
    assert trust_text(UNKNOWN) == "Publisher unknown · not checked · tools unknown"
    assert not any(word.is_bad for word in trust_words(UNKNOWN))


def test_what_is_known_is_said_with_its_date() -> None:
    text = trust_text(checked(2, True, True))
    assert text == "Publisher verified · answers · 2 tools, all read only · checked 2027-01-15T08:00Z"
    assert "1 tool, some may delete" in trust_text(checked(1, False))


def test_tools_that_are_not_listed_may_do_anything() -> None:
    assert "3 tools ·" in trust_text(checked(3, True, True))
    assert "2 tools ·" in trust_text(checked(2, True, True, more=True))
    assert "14 tools ·" in trust_text(checked(14))


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
