"""Settings of managed settings."""

from __future__ import annotations

from attrs import frozen

from ...config import setting


@frozen
class ManagedSettingsConfig:
    """Managed settings of editors, generated from the curated entries."""

    enabled: bool = setting(False, "Whether clients with an API key may read managed settings of editors.")
