"""Settings of lists."""

from __future__ import annotations

from attrs import frozen

from ...config import setting


@frozen
class ListsConfig:
    """Lists of entries, and the groups that see them."""

    enabled: bool = setting(False, "Whether readers see only the entries of their lists; without any list, none.")
    catalogue: bool = setting(
        False,
        "Whether the search page also shows signed-in members entries outside of their lists, as servers "
        "that need approval.",
    )
