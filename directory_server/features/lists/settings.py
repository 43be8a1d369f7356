"""Settings of lists."""

from __future__ import annotations

from attrs import frozen

from ...config import setting


@frozen
class ListsConfig:
    """Lists of entries, and the groups that see them."""

    enabled: bool = setting(False, "Whether readers see the entries of their lists only.")
    catalogue: bool = setting(
        False,
        "Whether searches on the pages also show members entries outside of their lists, as servers that "
        "need approval.",
    )
