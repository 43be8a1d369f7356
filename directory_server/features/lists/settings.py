"""Settings of lists."""

from __future__ import annotations

from attrs import frozen

from ...config import setting


@frozen
class ListsConfig:
    """Lists of entries, and the groups that see them."""

    enabled: bool = setting(
        False, "Whether readers see only the entries of their lists. Without any list they then see none."
    )
