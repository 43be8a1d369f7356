"""Stored times that cannot be true, because a clock was wrong when they were written."""

from __future__ import annotations

from attrs import evolve

from ..domain.upstreams import UpstreamState

LEEWAY = 300.0
"""Seconds by which a moment that has passed may lie ahead: clocks are corrected, and those of processes differ."""

SKEW = 86_400.0
"""Seconds by which an upstream's clock may be off and still be believed about itself."""


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
