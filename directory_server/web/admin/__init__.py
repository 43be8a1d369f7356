"""Operator pages: accounts, keys, upstreams and curation, for accounts with the role operator."""

from ._entry_pages import OperatorBar
from ._pages import AdminPages, admin_pages
from ._requests import ADMIN, OperatorRequests, parameters
from ._server_pages import Notice, ReadNotice, Server, Upstream

__all__ = [
    "ADMIN",
    "AdminPages",
    "Notice",
    "OperatorBar",
    "OperatorRequests",
    "ReadNotice",
    "Server",
    "Upstream",
    "admin_pages",
    "parameters",
]
