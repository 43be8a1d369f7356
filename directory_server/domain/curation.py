"""Curation flags that the operator sets."""

from __future__ import annotations

from typing import Literal

from attrs import frozen

Mark = Literal["hidden", "pinned", "allowed"]


LOCAL = "local"
"""The source of the operator's own entries. It takes precedence over all others."""


@frozen
class CuratedName:
    """A server name with its curation flags, and whether the operator has an entry of his own for it (`local`)."""

    name: str
    local: bool
    hidden: bool
    pinned: bool
    allowed: bool
