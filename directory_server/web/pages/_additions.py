"""What features add to the pages: templates, texts and tabs, and what they show of entries and keys."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from attrs import frozen

from ...domain.accounts import Account
from ...domain.check_views import VerificationView
from ...domain.ports.points import Point, Points
from ...domain.views import Detail
from ...http import Request
from ...tables import Storage

GROUPS = ("server", "access", "entries", "rules")
"""Groups of operator pages, in the order of the navigation."""


@frozen
class Extension:
    """Additions of a feature to the pages.

    `package` has the folder `templates` and the file `texts.toml`, with a table of texts for each language. The name of
    a template begins with `name` and a slash, the key of a text with `name` and a dot. `tabs` are operator pages: a
    group of GROUPS, a path and the key of a text. `account_tabs` are paths and keys of texts of pages of members.
    `head_parts` are templates for the head of each page, `list_parts` for the links below a list of entries.
    """

    name: str
    package: str
    tabs: tuple[tuple[str, str, str], ...] = ()
    account_tabs: tuple[tuple[str, str], ...] = ()
    head_parts: tuple[str, ...] = ()
    list_parts: tuple[str, ...] = ()


@frozen
class EntryPart:
    """What a feature shows of entries: a section of an entry's page, and checks in lists.

    `section` returns the value `section` of the template `section_template`, None for no section. `checks` returns the
    summaries of the checks of entries by their ids; it reads no database. `filters` returns the names of the filters
    that find entries because of the feature.
    """

    section_template: str
    section: Callable[[Detail], Awaitable[object]]
    checks: Callable[[Iterable[str]], Mapping[str, VerificationView]]
    filters: Callable[[], Collection[str]]


@frozen
class KeyPart:
    """What a feature shows of each key: the values `part` of the template `template`.

    `read` gets the storage, the time in seconds since the epoch, and ids of keys. It returns values by
    the id of the key, and none for a key without the part. It raises no error.
    """

    template: str
    read: Callable[[Storage, float, Sequence[str]], Awaitable[Mapping[str, object]]]


KeyPartValues = Sequence[tuple[str, Mapping[str, object]]]
"""The template of each part, and its values by the id of the key."""


async def read_key_parts(
    parts: Sequence[KeyPart], storage: Storage, now: float, key_ids: Sequence[str]
) -> KeyPartValues:
    return [(part.template, await part.read(storage, now, key_ids)) for part in parts]


ENTRY_PARTS = Point[EntryPart]()
"""What features show of entries on pages."""


def checks_of(points: Points, mcp_ids: Sequence[str]) -> Mapping[str, VerificationView]:
    """Return the summaries of the checks of entries, by their ids."""
    return {mcp_id: view for part in points.all(ENTRY_PARTS) for mcp_id, view in part.checks(mcp_ids).items()}


KEY_PARTS = Point[KeyPart]()
"""What features show of keys."""


@frozen
class EntryBar:
    """A part of a page, for some viewers: a template, and its values `bar`.

    `read` returns the values for a viewer and the name of the entry, or the words of the search; None for a viewer
    without the part.
    """

    template: str
    read: Callable[[Request, Account | None, str], Awaitable[Mapping[str, Any] | None]]


async def read_bars(
    bars: Iterable[EntryBar], request: Request, viewer: Account | None, about: str
) -> Sequence[tuple[str, Mapping[str, Any]]]:
    """Return the templates and values of the parts that the viewer has."""
    return [(bar.template, values) for bar in bars if (values := await bar.read(request, viewer, about)) is not None]


ENTRY_BARS = Point[EntryBar]()
"""Bars above the page of an entry."""

RESULT_PARTS = Point[EntryBar]()
"""Parts below the results of a search."""
