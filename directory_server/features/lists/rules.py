"""Lists and groups: values and rules."""

from __future__ import annotations

import re

from attrs import frozen

from ...domain.errors import BadInput, NotFound
from ...domain.filters import check_filters
from ...domain.scopes import MAX_LIST_NAME
from ...texts.sanitize import clean_line

MAX_LISTS = 50
"""Lists of a directory: a segment of the index has an array for each set of lists that readers see."""

MAX_GROUPS = 200

MAX_TITLE, MAX_RULE = 100, 256
"""Characters of the title and of the rule of a list."""

MAX_NAMES = 5_000
"""Characters of the names in one field of a form."""

MAX_PICKS = 2_000
"""Entries of a list that were added by hand."""

MAX_APPROVERS = 50
"""Accounts and groups that decide on the requests for a list."""

MAX_MEMBERS = 10_000
"""Members of a group that were added by hand."""

MAX_CLAIMS = 50
"""Groups of issuers whose persons are in a group."""

MAX_VALUE = 200
"""Characters of the name of a group of an issuer, and of the URL of the issuer."""

_NAME = re.compile(rf"[a-z0-9][a-z0-9-]{{0,{MAX_LIST_NAME - 1}}}")


@frozen
class EntryList:
    """A list of entries: all if `is_all`, else those that match the query `rule` and those that were picked.

    Everybody sees it if `is_open`, else the members of `groups`. `created_at` is in seconds since the epoch. A changed
    rule is another `revision`; while its entries are not known, it is negative, and nobody sees the list. With
    `holds_versions` an approved entry is on it only with the document that was approved.
    """

    name: str
    title: str
    is_all: bool
    is_open: bool
    rule: str
    created_at: float
    revision: int = -1
    groups: tuple[str, ...] = ()
    holds_versions: bool = False

    @property
    def is_ready(self) -> bool:
        """Whether its entries are known."""
        return self.is_all or self.revision >= 0


@frozen
class Group:
    """A group of readers: ids of `members`, and pairs of an issuer, or an empty text for any, and a group of it."""

    name: str
    members: tuple[str, ...] = ()
    claims: tuple[tuple[str, str], ...] = ()


def new_list(
    name: str,
    title: str,
    *,
    is_all: bool,
    is_open: bool,
    rule: str,
    now: float,
    holds_versions: bool = False,
) -> EntryList:
    """Return a list. Raises BadInput for a wrong name, title or rule."""
    check_list_name(name)
    title = clean_line(title, MAX_TITLE + 1).strip() or name
    if len(title) > MAX_TITLE:
        raise BadInput(f"title: must have at most {MAX_TITLE} characters.", code="title_wrong")
    rule = " ".join(rule.split())
    if len(rule) > MAX_RULE or not rule.isprintable():
        raise BadInput(f"rule: must have at most {MAX_RULE} printable characters.", code="rule_wrong")
    if rule and is_all:
        raise BadInput("rule: a list of all entries has no rule.", code="rule_wrong")
    check_filters(rule)
    return EntryList(name, title, is_all, is_open, rule, now, holds_versions=holds_versions)


def check_list_name(name: str) -> None:
    """Raise BadInput for an invalid name of a list or group."""
    if not _NAME.fullmatch(name):
        raise BadInput(
            f"name: must have 1 to {MAX_LIST_NAME} lower-case letters, digits and hyphens.", code="name_wrong"
        )


def check_claim(issuer: str, value: str) -> None:
    """Raise BadInput for an invalid issuer or group of it."""
    if not value or any(len(text) > MAX_VALUE or not text.isprintable() for text in (issuer, value)):
        raise BadInput(f"claim: must be a text of at most {MAX_VALUE} printable characters.", code="claim_wrong")


def unknown_group(name: str) -> NotFound:
    """Return the error of a group that there is not."""
    return NotFound(f"There is no group {name[:MAX_LIST_NAME]!r}.")


def missing_group(field: str, name: str) -> BadInput:
    """Return the error of a group that a field names, and that there is not."""
    about = name[:MAX_LIST_NAME]
    return BadInput(f"{field}: there is no group {about!r}.", code="group_unknown", about=about)
