"""The Statistics in memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from attrs import field, frozen

from ..domain.statistics import MAX_TEXTS, Count, Kind, QueryCount, QueryTotal


@frozen
class MemoryStatistics:
    """Numbers by day, kind and name, and by day and text; each is the total and the failed ones."""

    _counts: dict[tuple[int, Kind, str], tuple[int, int]] = field(factory=dict)
    _queries: dict[tuple[int, str], tuple[int, int]] = field(factory=dict)

    async def add(self, counts: Sequence[Count], queries: Sequence[QueryCount] = ()) -> None:
        for each in counts:
            total, failed = self._counts.get((each.day, each.kind, each.name), (0, 0))
            self._counts[each.day, each.kind, each.name] = total + each.total, failed + each.failed
        for query in queries:
            key = query.day, query.text
            if key not in self._queries and sum(day == query.day for day, _ in self._queries) >= MAX_TEXTS:
                continue
            total, failed = self._queries.get(key, (0, 0))
            self._queries[key] = total + query.total, failed + query.failed

    async def counts(self, first: int, last: int) -> Sequence[Count]:
        return [Count(*key, *numbers) for key, numbers in sorted(self._counts.items()) if first <= key[0] <= last]

    async def queries(self, first: int, *, failed: bool = False, limit: int) -> Sequence[QueryTotal]:
        totals, fails = Counter[str](), Counter[str]()
        for (day, text), numbers in self._queries.items():
            if day >= first:
                totals[text] += numbers[0]
                fails[text] += numbers[1]
        order = fails if failed else totals
        texts = sorted((text for text in totals if order[text]), key=lambda text: (-order[text], text))
        return [QueryTotal(text, totals[text], fails[text]) for text in texts[:limit]]

    async def forget(self, counts: int, queries: int) -> None:
        for key in [key for key in self._counts if key[0] < counts]:
            del self._counts[key]
        for text in [key for key in self._queries if key[0] < queries]:
            del self._queries[text]
