"""What the settings of upstreams must be, beyond their type: validators that raise ValueError."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlsplit


def share(_: object, __: object, value: float) -> None:
    """Demand a share of a whole."""
    if not 0 <= value <= 1:
        raise ValueError("must be from 0 to 1")


def source(_: object, __: object, name: str) -> None:
    """Demand what can name a source of entries."""
    if name == "local" or not re.fullmatch(r"([a-z0-9][a-z0-9._-]{0,39})?", name):
        raise ValueError("must be 1 to 40 of a-z, 0-9, '.', '_' and '-', and not 'local'")


def place(_: object, __: object, url: str) -> None:
    """Demand the address of a registry or file, or a path."""
    try:
        parts = urlsplit(url)
        web = parts.scheme in ("http", "https") and parts.hostname and parts.username is None and parts.port != 0
    except ValueError:
        web = False
    if not url.isprintable() or not (web or "://" not in url):
        raise ValueError("must be an http or https address without a password, or the path of a file")


def named_once(_: object, __: object, tables: tuple[Any, ...]) -> None:
    """Demand that each of the upstreams has a name of its own, and a url."""
    names = [table.name for table in tables]
    if not all(table.name and table.url for table in tables) or len(set(names)) < len(names):
        raise ValueError("must each have a name of its own and a url")
