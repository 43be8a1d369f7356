"""Settings of ends of life."""

from __future__ import annotations

from attrs import frozen

from ...config import AtLeast, Seconds, setting


@frozen
class EndOfLifeConfig:
    """Ends of life of entries."""

    warn: Seconds = setting(2_592_000.0, "Time before the end of an entry when webhooks get it.", AtLeast(0))
