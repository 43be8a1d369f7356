"""What a directory knows about an entry, in a few words with dates. Unknown is said as unknown, and is not bad."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from attrs import frozen

from .check_views import VerificationView
from .checks import PackageStatus, VerifiedStatus
from .kinds import SERVER
from .licenses import UNKNOWN
from .namespaces import VERIFIED
from .views import ACTIVE, Detail, Hit

CHECKS = {
    VerifiedStatus.WORKS: "answers",
    VerifiedStatus.NEEDS_LOGIN: "asks for a login",
    VerifiedStatus.AVAILABLE: "package exists",
    VerifiedStatus.FAILING: "last checks failed",
    VerifiedStatus.DOWN: "does not answer",
    VerifiedStatus.UNVERIFIED: "not checked",
}
"""What a status of checks says."""

HINTED = {"read-only": "all read only", "may-delete": "some may delete", "no-hints": "without hints"}
"""What the hints of tools say, by the value of the filter `tools`."""

ABSENT = ("publisher_unknown", "check_unverified", "tools_unknown")
"""The keys of words that say that nothing is known."""

STATUSES = {"deprecated": "deprecated", "deleted": "removed"}

TEXTS = {
    "publisher_verified": "publisher verified",
    "publisher_unknown": "publisher unknown",
    "retired": "not maintained",
    "tools": "{count} tools",
    "tools_one": "1 tool",
    "tools_or_more": "{count}+ tools",
    "tools_unknown": "tools unknown",
    "checked": "checked {date}",
    "flagged": "flagged",
    **{f"check_{status.value}": text for status, text in CHECKS.items()},
    **{f"hinted_{value}": text for value, text in HINTED.items()},
    **{f"status_{status}": text for status, text in STATUSES.items()},
}
"""The English texts of words by their keys. Pages have them in their languages."""


@frozen
class Word:
    """A part of the summary: the key of its text, and the number or the date (RFC 3339) in it.

    `about` has the keys of what belongs to it, such as the hints of tools.
    """

    key: str
    count: int = 0
    date: str = ""
    about: Sequence[str] = ()
    is_bad: bool = False


def trust_words(detail: Detail) -> Sequence[Word]:
    """Return what is known of the entry of `detail`: publisher, status, flags, checks, tools, and when it was checked.

    `detail` has what features add.
    """
    return list(_words(detail))


def trust_text(detail: Detail) -> str:
    """Return the words about the entry of `detail` as English text on one line."""
    text = " · ".join(_text(word) for word in trust_words(detail))
    return text[:1].upper() + text[1:]


def listed_words(hit: Hit, checks: VerificationView | None) -> Sequence[Word]:
    """Return what lists say of an entry with the summary of its `checks`: publisher, checks, tools and the date.

    Lists mark the status, the flags and the vendors of entries apart, whose names are verified, and leave out what is
    unknown: most rows would say it.
    """
    retired = [Word("retired", is_bad=True)] if hit.retired and hit.status == ACTIVE and hit.ends is None else []
    publisher = [] if hit.vendor else [_publisher(hit.publisher)]
    words = *publisher, *retired, *_checks(hit.verified, checks)
    return [word for word in words if word.key not in ABSENT]


def hit_text(hit: Hit) -> str:
    """Return what is known of publisher, checks, maintenance and hints of tools of a hit, on one line."""
    status = "" if hit.verified == VerifiedStatus.UNVERIFIED else hit.verified
    values = hit.publisher, status, TEXTS["retired"] * hit.retired, *hit.tool_hints
    return ", ".join(value for value in values if value and value != UNKNOWN)


def known_of(text: str) -> Mapping[str, Any]:
    """Return these fields of a hit from its `hit_text`."""
    values = text.split(", ")
    return {
        "publisher": VERIFIED if VERIFIED in values else UNKNOWN,
        "verified": next((value for value in values if value in CHECKS), VerifiedStatus.UNVERIFIED.value),
        "retired": TEXTS["retired"] in values,
        "tool_hints": tuple(value for value in values if value in HINTED),
    }


def _words(detail: Detail) -> Iterator[Word]:
    yield _publisher(detail.publisher)
    if detail.status in STATUSES:
        yield Word(f"status_{detail.status}", is_bad=True)
    elif detail.status != ACTIVE or _is_retired(detail):
        yield Word("retired", is_bad=True)
    if detail.flags:
        yield Word("flagged", about=tuple(detail.flags), is_bad=True)
    if detail.kind != SERVER:
        # Checks are of servers.
        return
    words = _checks(detail.verified, detail.verification)
    # A publisher may have declared tools that no check has read.
    yield from (word for word in words if not (detail.tools and word.key == "tools_unknown"))


def _is_retired(detail: Detail) -> bool:
    # Of a move, its text says where the server is maintained.
    has_ended = detail.ends is not None and detail.ends.state == "past"
    is_archived = any(fact.mark == "archived" for fact in detail.identity)
    is_deprecated = detail.verification is not None and detail.verification.package == PackageStatus.DEPRECATED
    return has_ended or is_archived or is_deprecated


def _publisher(publisher: str) -> Word:
    return Word("publisher_verified" if publisher == VERIFIED else "publisher_unknown")


def _checks(status: str, view: VerificationView | None) -> Iterator[Word]:
    yield Word(f"check_{status}", is_bad=status in (VerifiedStatus.FAILING, VerifiedStatus.DOWN))
    if view is None or not view.tool_count:
        yield Word("tools_unknown")
    else:
        hinted = tuple(f"hinted_{value}" for value in view.tool_hints)
        yield Word("tools_or_more" if view.has_more_tools else "tools", view.tool_count, about=hinted)
    if view is not None and view.checked_at is not None:
        yield Word("checked", date=view.checked_at)


def _text(word: Word) -> str:
    key = f"{word.key}_one" if word.count == 1 and f"{word.key}_one" in TEXTS else word.key
    text = TEXTS[key].format(count=word.count, date=f"{word.date[:16]}Z")
    return ", ".join((text, *(TEXTS.get(about, about) for about in word.about)))
