"""Curation flags that the operator sets."""

from __future__ import annotations

from typing import Literal

from attrs import frozen

Mark = Literal["hidden", "pinned", "allowed"]


LOCAL = "local"
"""The source of the operator's own entries; it goes before all others."""


@frozen
class CuratedName:
    """A name that the operator has a say in: his marks, and whether there is an entry of his own (`local`)."""

    name: str
    local: bool
    hidden: bool
    pinned: bool
    allowed: bool
