"""The verification of all entries in memory, for requests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from attrs import evolve

from ...domain.changes import Change
from ...domain.check_views import VerificationView
from ...domain.checks import VerifiedStatus, refined_auth
from ...domain.details import package_identity
from ...domain.namespaces import VERIFIED
from ...domain.ports.additions import EntryAdditions
from ...domain.views import Detail
from ...domain.withholding import with_marks
from ...serialization import VERIFICATION, rfc3339
from .summaries import UNVERIFIED, Verification, open_marks, verification_view
from .tables import Verifications
from .targets import TargetState

REFRESH_INTERVAL = 15.0
"""Seconds between two reads of summaries that checks have changed in their time only: these are in no change."""

PAGE = 2_000
"""Summaries that are read at a time."""


class VerifiedEntries(EntryAdditions):
    """Summaries of the checks of entries by their ids, as of the changes that the index has.

    Times of checks are at most REFRESH_INTERVAL seconds old. A look-up reads no database. An entry takes about 500
    bytes; entries without checks take none.
    """

    def __init__(self, verifications: Verifications) -> None:
        self._verifications = verifications
        self._known: dict[str, Verification] = {}
        self._counts: Counter[VerifiedStatus] = Counter()
        self._revision = 0

    def get(self, mcp_id: str) -> Verification:
        """Return the verification of an entry, UNVERIFIED if it has none."""
        return self._known.get(mcp_id, UNVERIFIED)

    def views(self, mcp_ids: Iterable[str]) -> Mapping[str, VerificationView]:
        """Return the summaries of those of the entries `mcp_ids` that were checked, by their ids."""
        return {mcp_id: verification_view(self._known[mcp_id]) for mcp_id in mcp_ids if mcp_id in self._known}

    @property
    def counts(self) -> Mapping[VerifiedStatus, int]:
        """The number of entries with each status, without those that were never checked."""
        return self._counts

    def add_summary(self, detail: Detail) -> Detail:
        """Return `detail` with the summary of its entry's checks."""
        return self._detail(detail, (), ())

    async def add_all(self, detail: Detail, accepted: Collection[str]) -> Detail:
        """Return `detail` with the summary and the lists of its entry's checks."""
        return self._detail(detail, await self.states(detail.mcp_id), accepted)

    def registry_meta(self, mcp_id: str, sees: Callable[[str], bool]) -> Mapping[str, object]:
        """Return the summary of the checks of the entry `mcp_id` for the registry API."""
        verification = self.get(mcp_id)
        return {} if verification.checked_at is None else {VERIFICATION: _registry_summary(verification)}

    def _detail(self, detail: Detail, states: Sequence[TargetState], accepted: Collection[str]) -> Detail:
        summary = self.get(detail.mcp_id)
        if summary is UNVERIFIED:
            return detail
        view = verification_view(summary, states, accepted)
        stated = (detail.repository or {}).get("url")
        repository = stated if isinstance(stated, str) else ""
        detail = evolve(
            detail,
            auth=refined_auth(detail.auth, summary.auth),
            verified=summary.status.value,
            publisher=VERIFIED if summary.names_server else detail.publisher,
            verification=view,
            identity=(*detail.identity, *package_identity(view.packages, repository)),
        )
        return with_marks(detail, open_marks(states, accepted))

    async def states(self, mcp_id: str) -> Sequence[TargetState]:
        """Return the checks of an entry. This reads the database, unless the entry has none."""
        return await self._verifications.states(mcp_id) if mcp_id in self._known else ()

    async def apply(self, changes: Sequence[Change]) -> None:
        """Read the summaries of `changes`."""
        await self.refresh()

    async def refresh(self) -> None:
        """Read the summaries that are new. After an error, which is Unavailable, the next call continues."""
        while summaries := await self._verifications.summaries(self._revision, PAGE):
            for summary in summaries:
                self._put(summary.mcp_id, summary.verification)
                self._revision = summary.revision

    def _put(self, mcp_id: str, verification: Verification) -> None:
        before = self._known.pop(mcp_id, None)
        if before is not None:
            self._counts[before.status] -= 1
        if verification != UNVERIFIED:
            self._known[mcp_id] = verification
            self._counts[verification.status] += 1


def _registry_summary(verification: Verification) -> Mapping[str, Any]:
    assert verification.checked_at is not None
    return {
        "status": verification.status,
        "checkedAt": rfc3339(verification.checked_at),
        "toolCount": verification.tools,
        **({"toolsDigest": f"sha256:{verification.tools_digest}"} if verification.tools_digest else {}),
        "protocolVersions": verification.protocol_versions,
        **({"auth": verification.auth} if verification.auth else {}),
        **({"package": verification.package} if verification.package else {}),
        **({} if verification.names_server is None else {"namesServer": verification.names_server}),
    }
