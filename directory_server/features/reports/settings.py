"""Settings of reports."""

from __future__ import annotations

from attrs import frozen

from ...config import setting


@frozen
class ReportsConfig:
    """Reports of readers about entries."""

    enabled: bool = setting(True, "Whether readers may report entries on the pages.")
