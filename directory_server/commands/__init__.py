"""Commands of `directory-server`, a group in each module."""

from ._account import account
from ._data import configuration, data_directory
from ._entry import entry
from ._sync import sync

__all__ = ["account", "configuration", "data_directory", "entry", "sync"]
