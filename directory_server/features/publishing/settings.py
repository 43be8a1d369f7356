"""Settings of publishing."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import frozen

from ...config import AtLeast, Bytes, Seconds, above_zero, setting
from ...domain.publishing import SourceLimits
from ...domain.versions import PUBLISHED


@frozen
class PublishConfig:
    """Publishing with publisher tokens over the registry API."""

    enabled: bool = setting(False, "Whether publisher tokens may publish entries.")
    per_minute: int = setting(60, "Requests per minute of each publisher token.", AtLeast(1))
    max_entries: int = setting(10_000, "Maximum number of published names, deleted entries included.", AtLeast(1))
    max_bytes: Bytes = setting(200_000_000, "Maximum size of published entries.", AtLeast(100_000))
    log: Seconds = setting(31_536_000.0, "Time for which a record of the audit log is stored.", above_zero)

    @property
    def source_limits(self) -> Mapping[str, SourceLimits]:
        """The limits of published entries."""
        return {PUBLISHED: SourceLimits(self.max_entries, self.max_bytes)}
