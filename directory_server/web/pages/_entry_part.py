"""What a feature shows of entries on the pages."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping

from attrs import frozen

from ...domain.views import Detail


@frozen
class EntryPart:
    """What a feature shows of entries: a section of an entry's page, and a note in lists.

    `section` returns the value `section` of the template `section_template`, None for no section. `notes` returns the
    values `note` of the template `note_template` by the ids of entries; it reads no database. `filters` returns the
    names of the filters that find entries because of the feature.
    """

    section_template: str
    section: Callable[[Detail], Awaitable[object]]
    note_template: str
    notes: Callable[[Iterable[str]], Mapping[str, object]]
    filters: Callable[[], Collection[str]]
