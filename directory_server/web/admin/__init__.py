"""Operator pages: accounts, keys, upstreams and curation, for accounts with the role operator."""

from ._entry_pages import OperatorBar
from ._pages import AdminPages, admin_pages
from ._server_pages import Server, Upstream

__all__ = ["AdminPages", "OperatorBar", "Server", "Upstream", "admin_pages"]
