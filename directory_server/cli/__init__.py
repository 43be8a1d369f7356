"""Commands of `directory-server`, a group in each module."""

from ._account import account
from ._context import opened, store
from ._entry import entry
from ._output import echo
from ._ports import check_ports
from ._registry import registry
from ._restore import after_restore
from ._sync import sync

__all__ = ["account", "after_restore", "check_ports", "echo", "entry", "opened", "registry", "store", "sync"]
