"""Settings of reports."""

from __future__ import annotations

from attrs import frozen

from ...config import setting


@frozen
class ReportsConfig:
    """Reports of readers about entries."""

    enabled: bool = setting(True, "Readers may report entries to the operator on the pages.")
