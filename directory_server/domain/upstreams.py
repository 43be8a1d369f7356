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
    """How far an upstream is followed, and how that went; moments are seconds since the epoch.

    `error` is why the latest round failed, empty if it did not, and `failures` how many have since the last that did
    not. `entries` are the upstream's that are kept. `question` is what of which address is taken; what changed after
    `mark` is asked for in the next round, with `etag` and `modified` where the answer to the same is known. `walked` is
    how many names the last full walk found, which ended at `walked_at`.
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
