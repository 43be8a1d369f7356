"""Settings of look-alikes."""

from __future__ import annotations

from attrs import frozen

from ...config import name_patterns, setting


@frozen
class LookalikesConfig:
    """Entries whose names imitate others."""

    enabled: bool = setting(True, "Whether to flag look-alikes, and to reject to publish them.")
    allow: tuple[str, ...] = setting((), "Patterns of names that are not flagged, * for any characters.", name_patterns)
