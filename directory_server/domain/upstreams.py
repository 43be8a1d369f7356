"""Synchronization state of an upstream registry."""

from __future__ import annotations

from attrs import frozen


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


@frozen
class Lease:
    """The right of one process to sync an upstream, `until` a time in seconds since the epoch."""

    holder: str
    until: float


def may_hold(lease: Lease | None, holder: str, now: float, seconds: float) -> bool:
    """Return whether `holder` may have the lease from `now` for `seconds`, given the stored `lease`.

    A lease that ends more than twice as far ahead as this one is void: a wrong clock wrote it.
    """
    return lease is None or lease.holder == holder or lease.until <= now or lease.until > now + 2 * seconds
