"""Settings of icons."""

from __future__ import annotations

from attrs import frozen

from ...config import setting


@frozen
class IconsConfig:
    """Icons that entries name, on lists and pages."""

    fetch: bool = setting(
        False,
        "Whether the server fetches icons of entries from their URLs.",
        step="admin.step_icons",
    )
