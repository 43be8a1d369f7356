"""LRU cache of result pages and of their encoded forms, bounded in pages and in bytes."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from operator import attrgetter, is_
from typing import Any, TypeVar

from attrs import define, field, fields

from ..domain.search import Page, Query

T = TypeVar("T")

PAGES = 250
"""The most pages in the cache."""

PAGES_BYTES = 8 * 1_048_576
"""The most bytes of hits in the cache. The encoded responses of REST and MCP have up to four times as many."""


key_of: Callable[[Query], tuple[Any, ...]] = attrgetter(*[column.name for column in fields(Query)])
"""Return the key of a query: its fields. A tuple is hashed and compared without code in Python."""


@define(eq=False)
class CachedPage:
    """A page, and its forms for the APIs."""

    page: Page
    _forms: dict[Callable[..., Any], tuple[Any, Any]] = field(factory=dict, init=False)

    def form(self, make: Callable[..., T], *values: object) -> T:
        """Return `make(page, *values)`, which is not None; the second result of each function is cached.

        Another object among the `values` makes a new one.

        Most pages are requested once. If their forms stayed in memory, each new one would use memory that is not in the
        processor's cache, which takes as long as making the form.
        """
        form: T | None
        made_of, form = self._forms.get(make, (values, None))
        if form is None or not all(map(is_, made_of, values)):
            form = make(self.page, *values)
            self._forms[make] = values, form if make in self._forms else None
        return form


class PageCache:
    """Caches the most recently used pages of the latest index generation by the keys of their queries."""

    def __init__(self) -> None:
        self._generation = 0
        # The most recently used page is last. To find the first key of a `dict` takes longer, the more were removed.
        self._pages: OrderedDict[Hashable, CachedPage] = OrderedDict()
        self._size = 0

    def get(self, generation: int, key: Hashable) -> CachedPage | None:
        """Return the cached page, or None. Drop the pages of another generation."""
        if generation != self._generation:
            self._generation, self._size = generation, 0
            self._pages.clear()
        cached = self._pages.get(key)
        if cached is not None:
            self._pages.move_to_end(key)
        return cached

    def put(self, generation: int, key: Hashable, page: Page) -> CachedPage:
        """Return a new page. Cache it if `generation` is that of the last `get`.

        Drop the least recently used pages beyond the bounds.
        """
        cached = CachedPage(page)
        if generation == self._generation:
            self._add(key, cached)
        return cached

    def _add(self, key: Hashable, cached: CachedPage) -> None:
        pages = self._pages
        # Another request may have searched for the same at the same time. The first page stays.
        if pages.setdefault(key, cached) is not cached:
            return
        self._size += cached.page.hits.size
        while len(pages) > PAGES or (self._size > PAGES_BYTES and len(pages) > 1):
            _, dropped = pages.popitem(last=False)
            self._size -= dropped.page.hits.size
