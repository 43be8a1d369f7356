"""A cache of pages of hits, bounded in pages and in bytes."""

from __future__ import annotations

from collections import OrderedDict

from ..domain.search import Page, Query

PAGES = 500
"""Pages that are kept: those that were asked for last, as long as nothing has changed."""

PAGES_BYTES = 16 * 1_048_576
"""Bytes of their hits; what they are encoded as for REST and MCP has up to four times as many."""


class PageCache:
    """Keeps the pages used last, by the generation of the index and the query."""

    def __init__(self) -> None:
        self._pages: OrderedDict[tuple[int, Query], Page] = OrderedDict()
        self._size = 0

    def get(self, asked: tuple[int, Query]) -> Page | None:
        """Return a page that is kept, or None."""
        page = self._pages.get(asked)
        if page is not None:
            self._pages.move_to_end(asked)
        return page

    def put(self, asked: tuple[int, Query], page: Page) -> None:
        """Keep a page, and drop those used least recently that are then too many."""
        replaced = self._pages.pop(asked, None)
        self._pages[asked] = page
        self._size += page.size - (replaced.size if replaced else 0)
        while len(self._pages) > PAGES or (self._size > PAGES_BYTES and len(self._pages) > 1):
            _, dropped = self._pages.popitem(last=False)
            self._size -= dropped.size
