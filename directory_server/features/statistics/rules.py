"""Numbers of requests and searches by day, and which texts of searches may be stored."""

from __future__ import annotations

import re
from typing import Literal

from attrs import frozen

from ...texts.sanitize import clean_text

DAY = 86_400
"""Seconds of a day."""

LEAST = 5
"""By default a text is stored after searches of so many clients in one day and process."""

MAX_TEXT = 80
"""Characters of a stored text. Longer texts are not stored."""

MAX_RAW_TEXT = 4 * MAX_TEXT
"""Characters of a search that may be counted, before its white space is reduced."""

MAX_TEXTS = 1_000
"""Stored texts of a day. Further ones are not stored."""

Kind = Literal["requests", "searches", "keys", "entries"]
"""What is counted: requests by route, searches by API, requests by key, and opened entries by `mcp_id`."""

MAX_NAMES = 20_000
"""Keys, and entries, of a day that a process counts. Further ones are not counted."""

_PERSONAL = re.compile(
    r"""
    @ | :// | mcpd_          # addresses, URLs, keys
    | (?:\d[\s().+/-]*){7}   # telephone numbers, account numbers
    | \S{25}                 # secrets
    | (?=\S*\d)(?=\S*[^\W\d_])[^\W_]{16}  # random letters and digits
    """,
    re.VERBOSE,
)


@frozen
class Count:
    """Requests of a route or a key, searches of an API, or uses of an entry, on one day.

    `day` is in days since the epoch. `failed` is the number of requests with a status of 400 or more, or of searches
    without a hit.
    """

    day: int
    kind: Kind
    name: str
    total: int
    failed: int


@frozen
class QueryCount:
    """Searches for a text on one day, and those of them without a hit."""

    day: int
    text: str
    total: int
    failed: int


@frozen
class Total:
    """Numbers of a name, or searches for a text, on several days; `failed` as in Count."""

    name: str
    total: int
    failed: int


def day_of(seconds: float) -> int:
    """Return the day (UTC) of a time in seconds since the epoch, in days since the epoch."""
    return int(seconds // DAY)


def countable(keywords: str) -> str:
    """Return the form of a search that is counted, in lower case and with single spaces.

    It is empty for a text that may not be stored: a long one, and one that looks like an address, a URL, a number of a
    person or a secret.
    """
    if len(keywords) > MAX_RAW_TEXT:
        return ""
    text = " ".join(clean_text(keywords, MAX_TEXT + 1).lower().split())
    return "" if len(text) > MAX_TEXT or _PERSONAL.search(text) else text
