"""LRU cache of result pages and of their encoded forms, bounded in pages and in bytes."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any, TypeVar

from attrs import define, field

from ..domain.search import Page, Query

T = TypeVar("T")

PAGES = 250
"""The most pages in the cache."""

PAGES_BYTES = 8 * 1_048_576
"""The most bytes of hits in the cache. The encoded responses of REST and MCP have up to four times as many."""


@define(eq=False)
class CachedPage:
    """A page, the bytes of its hits, and its forms for the APIs."""

    page: Page
    size: int
    _forms: dict[Callable[[Page], Any], Any] = field(factory=dict, init=False)

    def form(self, make: Callable[[Page], T]) -> T:
        """Return `make(page)`, which is not None; the second result of each function is cached.

        Most pages are requested once. If their forms stayed in memory, each new one would use memory that is not in the
        processor's cache, which takes as long as making the form.
        """
        form: T | None = self._forms.get(make)
        if form is None:
            form = make(self.page)
            self._forms[make] = form if make in self._forms else None
        return form


class PageCache:
    """Caches the most recently used pages by index generation and query."""

    def __init__(self) -> None:
        self._pages: OrderedDict[tuple[int, Query], CachedPage] = OrderedDict()
        self._size = 0

    def get(self, key: tuple[int, Query]) -> CachedPage | None:
        """Return the cached page, or None."""
        cached = self._pages.get(key)
        if cached is not None:
            self._pages.move_to_end(key)
        return cached

    def put(self, key: tuple[int, Query], page: Page, size: int) -> CachedPage:
        """Cache a page with `size` bytes of hits and return it; drop the least recently used beyond the bounds."""
        replaced = self._pages.pop(key, None)
        cached = self._pages[key] = CachedPage(page, size)
        self._size += size - (replaced.size if replaced else 0)
        while len(self._pages) > PAGES or (self._size > PAGES_BYTES and len(self._pages) > 1):
            _, dropped = self._pages.popitem(last=False)
            self._size -= dropped.size
        return cached
