"""Why a round came to nothing."""

from __future__ import annotations

from ..domain.errors import DirectoryError


class UpstreamFailed(DirectoryError):
    """Give a round up, for a reason that the operator is told.

    `retry_after` is the seconds that upstream asked for; a round that is `resumable` goes on where it was.
    """

    code = "upstream_failed"

    def __init__(self, message: str, *, retry_after: float = 0.0, resumable: bool = False) -> None:
        super().__init__(message)
        self.retry_after = retry_after
        self.resumable = resumable


class UpstreamBusy(DirectoryError):
    """Leave an upstream alone that another process is following at the moment."""

    code = "upstream_busy"
