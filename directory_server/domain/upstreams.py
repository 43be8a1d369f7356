"""Synchronization state of an upstream registry, its last runs, and which stored times of it cannot be true."""

from __future__ import annotations

from attrs import evolve, frozen

LEEWAY = 300.0
"""Seconds by which a moment that has passed may lie ahead: clocks are corrected, and those of processes differ."""

SKEW = 86_400.0
"""Seconds by which an upstream's clock may be off and still be believed about itself."""

MAX_RUNS = 20
"""Finished sync runs that are stored of each upstream."""


@frozen
class FinishedRun:
    """A finished sync run. Times are seconds since the epoch; `error` is empty after a success.

    The numbers are of entries: read, added, changed, removed and rejected. A continued run counts from its
    continuation. `note` says what else the operator should know.
    """

    started_at: float
    ended_at: float
    full: bool
    entries: int = 0
    added: int = 0
    changed: int = 0
    removed: int = 0
    rejected: int = 0
    error: str = ""
    note: str = ""

    @property
    def seconds(self) -> int:
        """The duration. A clock that was set back gives an end before the start."""
        return max(0, round(self.ended_at - self.started_at))


@frozen
class SyncProgress:
    """A sync run in progress: of all entries (`full`), or of those changed since a time.

    `began` is the start in seconds since the epoch, by the upstream's clock if it reports one. `cursor` is of the next
    page.
    """

    full: bool
    began: float
    cursor: str = ""


@frozen
class UpstreamState:
    """The synchronization state of an upstream. Times are seconds since the epoch.

    `last_run` and `next_run` are the end of the latest sync run and the earliest start of the next one. `error` is the
    error of the latest run, empty after a success; `failures` counts the failed runs since the last success. `entries`
    is the number of stored names. `selection` identifies the address and the filters. The next incremental sync
    requests entries updated since `updated_since`, with `etag` and `modified` of the previous response if known. The
    last full sync found `full_sync_names` names and ended at `full_sync_at`. `progress` is of an unfinished run.
    """

    name: str
    selection: str = ""
    last_run: float | None = None
    last_success: float | None = None
    next_run: float = 0.0
    error: str = ""
    failures: int = 0
    entries: int = 0
    updated_since: float | None = None
    etag: str = ""
    modified: str = ""
    full_sync_names: int = 0
    full_sync_at: float | None = None
    progress: SyncProgress | None = None


def credible(state: UpstreamState, now: float, wait: float) -> UpstreamState:
    """Return `state` without the times that lie further ahead of `now` than they can.

    Times are seconds since the epoch; `wait` is the longest time, in seconds, from one sync run to the next. A time
    that is void counts as never set: the next sync run is due at once, a full one where it is unknown what is new.
    """
    ahead = state.last_run is not None and state.last_run > now + LEEWAY
    progress = state.progress
    return evolve(
        state,
        last_run=_past(state.last_run, now + LEEWAY),
        last_success=_past(state.last_success, now + LEEWAY),
        # It was reckoned from the moment of the last sync run.
        next_run=0.0 if ahead or state.next_run > now + wait else state.next_run,
        updated_since=_past(state.updated_since, now + SKEW),
        full_sync_at=_past(state.full_sync_at, now + LEEWAY),
        progress=None if progress is not None and progress.began > now + SKEW else progress,
    )


def _past(moment: float | None, latest: float) -> float | None:
    return None if moment is None or moment > latest else moment
