"""Commands of `directory-server` about what the directory lists, and where that comes from."""

from ._entry import entry
from ._here import opened
from ._sync import sync

__all__ = ["entry", "opened", "sync"]
