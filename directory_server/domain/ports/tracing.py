"""Port of tracing: spans of what a server does."""

from __future__ import annotations

from typing import Literal, Protocol, TypeVar

from .points import Single

T = TypeVar("T")

Traced = Literal["request", "charge", "search", "plan", "rank", "threads", "upstream"]
"""Parts of a server that a trace wraps: a handler of requests, a Quota, an Index, a function that plans a search, one
that ranks its hits, an Offload, and an IAgent of Twisted."""


class Trace(Protocol):
    """Wraps parts of a server when it is composed."""

    def __call__(self, kind: Traced, part: T, /) -> T:
        """Return `part`, each call of which is recorded as a span. An Offload only keeps the trace of its caller."""


def untraced(kind: Traced, part: T, /) -> T:
    """Return `part`, which records nothing."""
    return part


TRACE = Single[Trace](untraced)
"""Wraps parts of the server and of later features."""
