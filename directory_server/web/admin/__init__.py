"""Operator pages: accounts, keys, upstreams and curation, for accounts with the role operator."""

from ._account_pages import AccountPages
from ._entry_pages import EntryPages, OperatorBar
from ._key_pages import KeyPages
from ._requests import ADMIN, PER_PAGE, OperatorRequests, next_url, page_of, parameters
from ._server_pages import Notice, ReadNotice, Server, ServerPages, Upstream

__all__ = [
    "ADMIN",
    "PER_PAGE",
    "AccountPages",
    "EntryPages",
    "KeyPages",
    "Notice",
    "OperatorBar",
    "OperatorRequests",
    "ReadNotice",
    "Server",
    "ServerPages",
    "Upstream",
    "next_url",
    "page_of",
    "parameters",
]
