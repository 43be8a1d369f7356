"""Errors of sync runs."""

from __future__ import annotations

from ..domain.errors import DirectoryError


class UpstreamFailed(DirectoryError):
    """A sync run failed; the message is for the operator.

    `retry_after` is the delay in seconds that the upstream requested. A `resumable` run continues where it stopped.
    """

    code = "upstream_failed"

    def __init__(self, message: str, *, retry_after: float = 0.0, resumable: bool = False) -> None:
        super().__init__(message)
        self.retry_after = retry_after
        self.resumable = resumable


class UpstreamBusy(DirectoryError):
    """Another process holds the lease of the upstream."""

    code = "upstream_busy"
