"""Fixtures: browsers in memory, and accounts."""

from ..browsers import ANN, PASSWORD, SEARCH, Browser, account_of, ann, browser, invite, key_of, member, set_cookies

__all__ = [
    "ANN",
    "PASSWORD",
    "SEARCH",
    "Browser",
    "account_of",
    "ann",
    "browser",
    "invite",
    "key_of",
    "member",
    "set_cookies",
]
