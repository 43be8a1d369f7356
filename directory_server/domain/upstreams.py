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

    `error` is the error of the latest sync run, empty after a success; `failures` counts the failed runs since the last
    success. `entries` is the number of stored names. `question` identifies the address and the filters. The next
    incremental sync requests changes after `mark`, with `etag` and `modified` of the previous response if known. The
    last full sync found `walked` names and ended at `walked_at`; `walk` is the progress of a run.
    """

    name: str
    question: str = ""
    last_round: float | None = None
    last_success: float | None = None
    next_round: float = 0.0
    error: str = ""
    failures: int = 0
    entries: int = 0
    mark: float | None = None
    etag: str = ""
    modified: str = ""
    walked: int = 0
    walked_at: float | None = None
    walk: SyncProgress | None = None
