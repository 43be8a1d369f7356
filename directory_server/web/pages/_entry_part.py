"""What a feature shows of entries on the pages."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence

from attrs import frozen

from ...domain.check_views import VerificationView
from ...domain.views import Detail


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


def checks_of(parts: Iterable[EntryPart], mcp_ids: Sequence[str]) -> Mapping[str, VerificationView]:
    """Return the summaries of the checks of entries, by their ids."""
    return {mcp_id: view for part in parts for mcp_id, view in part.checks(mcp_ids).items()}
