"""Settings of popularity."""

from __future__ import annotations

from attrs import frozen

from ...config import setting


@frozen
class PopularityConfig:
    """How many accounts use an entry, on cards, on its page and in searches over MCP."""

    enabled: bool = setting(
        True,
        "Whether to count accounts that open an entry, from three on, by hashes for two months.",
    )
