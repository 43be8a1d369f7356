"""Tables and templates that requests need: loaded before processes are forked, or in a thread beside the start."""

from __future__ import annotations

from ..config import Config
from ..search import file_version, load_tables
from ..web import account, pages
from ._brand import brand_of
from ._features import extensions


def preload(config: Config) -> None:
    """Load the tables of words, the texts and the templates. They are loaded once in a process."""
    load_tables()
    file_version()
    pages.preload(config.web.search, account.SIGN_IN, extensions(), brand_of(config))
