"""LRU cache of result pages, bounded in pages and in bytes."""

from __future__ import annotations

from collections import OrderedDict

from ..domain.search import Page, Query

PAGES = 500
"""The most pages in the cache."""

PAGES_BYTES = 16 * 1_048_576
"""The most bytes of hits in the cache. The encoded responses of REST and MCP have up to four times as many."""


class PageCache:
    """Caches the most recently used pages by index generation and query."""

    def __init__(self) -> None:
        self._pages: OrderedDict[tuple[int, Query], Page] = OrderedDict()
        self._size = 0

    def get(self, key: tuple[int, Query]) -> Page | None:
        """Return the cached page, or None."""
        page = self._pages.get(key)
        if page is not None:
            self._pages.move_to_end(key)
        return page

    def put(self, key: tuple[int, Query], page: Page) -> None:
        """Cache a page; drop the least recently used pages beyond the bounds."""
        replaced = self._pages.pop(key, None)
        self._pages[key] = page
        self._size += page.size - (replaced.size if replaced else 0)
        while len(self._pages) > PAGES or (self._size > PAGES_BYTES and len(self._pages) > 1):
            _, dropped = self._pages.popitem(last=False)
            self._size -= dropped.size
