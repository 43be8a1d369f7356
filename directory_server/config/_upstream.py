"""The settings of an upstream."""

from __future__ import annotations

from attrs import frozen

from ._checks import place, share, source
from ._declaring import at_least, each, setting

_PATTERNS = "patterns of names such as com.example/*"


@frozen
class UpstreamConfig:
    """A registry, or a file of entries, that the directory follows."""

    name: str = setting("", "What its entries are known by; upstreams that stand first go before others.", source)
    url: str = setting("", "Where it is: a registry with the official API, or a file's address or path.", place)
    interval: float = setting(3600.0, "Seconds between two rounds.", at_least(60))
    headers: tuple[str, ...] = setting(
        (),
        "Headers to send, read from the environment or a file: Authorization: env:TOKEN, or file:/path.",
        each(r"[A-Za-z0-9-]+: *(env:\w+|file:/[^\0]+)", "headers such as Authorization: env:TOKEN or file:/path"),
        secret=True,
    )
    include: tuple[str, ...] = setting(
        (), "Patterns of the names to take, * for anything; if none: all.", each(r"\S+", _PATTERNS)
    )
    exclude: tuple[str, ...] = setting((), "Patterns of names to leave out.", each(r"\S+", _PATTERNS))
    floor: float = setting(
        0.85, "Share of the entries of the last full walk; if a walk finds fewer, nothing is removed.", share
    )
    official: bool = setting(
        False, "Whether its word is taken for which entries the official registry lists: true or false."
    )
    max_entries: int = setting(100_000, "Names that are stored of it, those of deleted entries too.", at_least(1))
    max_bytes: int = setting(1_000_000_000, "Bytes of entries that are stored of it.", at_least(1_000_000))
