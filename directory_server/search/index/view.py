"""Views: the documents of a snapshot that a search may find, and what it looks up in them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from itertools import repeat
from typing import Any, TypeVar

import numpy as np
from attrs import define, field

from .arrays import Bools, Doubles, Ints, Longs, Shorts
from .document import NAMED
from .fields import inverse_document_frequency
from .segment import Segment, packed

T = TypeVar("T")

MAX_KNOWN = 50_000
"""Strings whose look-ups a view remembers, at most about 10 MB."""

SMOOTHING = 4
"""Documents without a string in the name that are added to those that have it (additive smoothing)."""

PRIOR = 2.0
"""The share of its score that a document gains by a prior of 1."""


@define(eq=False)
class View:
    """The documents of a snapshot that a search may find: those of a scope, or all.

    Documents are numbered through all segments: `bases` has the first number of each. `size` is the number of live
    documents. Terms that only others have, which were removed or are outside of the scope, do not exist in a view, so
    that they change nothing in its searches: no weight, no prefix and no correction. `dead` tells which segments have
    postings of others.
    """

    segments: Sequence[Segment]
    live: Sequence[Bools]
    dead: Sequence[bool]
    pinned: Longs
    size: int
    bases: Sequence[int] = field(init=False)
    boosts: Doubles = field(init=False)
    """The factor of the sum of each live document, by its prior; 0 for others."""
    is_whole: bool = field(init=False)
    """Whether all documents are live."""
    _known: dict[str, tuple[int, ...]] = field(factory=dict, init=False, repr=False)
    """The number of documents of a string, and its place in each segment."""
    _made: dict[Hashable, Any] = field(factory=dict, init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        self.bases = np.cumsum([0, *map(len, self.segments)]).tolist()
        boosts = [live * (1 + PRIOR * part.priors) for part, live in zip(self.segments, self.live, strict=True)]
        self.boosts = np.concatenate([np.zeros(0), *boosts])
        self.is_whole = bool(self.boosts.all())

    def once(self, name: Hashable, make: Callable[[], T]) -> T:
        """Return what `make` returned for `name` the first time, at most MAX_KNOWN of them."""
        try:
            made: T = self._made[name]
        except KeyError:
            if len(self._made) >= MAX_KNOWN:
                self._made.clear()
            made = self._made[name] = make()
        return made

    def has_made(self, name: Hashable) -> bool:
        """Return whether `once` remembers the result for `name`."""
        return name in self._made

    def frequencies(self, strings: Sequence[str]) -> list[int]:
        """Return the number of documents with each of `strings`."""
        known = self._look_up(strings)
        return [known[string][0] for string in strings]

    def places(self, strings: Sequence[str]) -> list[tuple[int, ...]]:
        """Return for each of `strings` its number of documents, and its place in each segment."""
        known = self._look_up(strings)
        return [known[string] for string in strings]

    def _look_up(self, strings: Sequence[str]) -> Mapping[str, tuple[int, ...]]:
        """Return the frequencies and places of `strings` and of others, which are remembered."""
        known = self._known
        unknown = [string for string in strings if string not in known]
        if not unknown:
            return known
        if len(known) > MAX_KNOWN:
            # Searches in other threads go on with the former ones.
            known = self._known = {}
            unknown = [*strings]
        raws = [*map(packed, unknown)]
        columns = [segment.find_all(raws) for segment in self.segments]
        counts = [[self._count(number, place) for place in places] for number, places in enumerate(columns)]
        totals = map(sum, zip(*counts, strict=True)) if counts else repeat(0)
        known.update(zip(unknown, zip(totals, *columns, strict=False), strict=False))
        return known

    def _count(self, number: int, place: int) -> int:
        """Return the number of live documents of the string of a segment at `place`."""
        span = self.segments[number].span_of(place)
        if not self.dead[number]:
            return int(span.stop - span.start)
        return int(np.count_nonzero(self.live[number][self.segments[number].docs[span]]))

    def _counts(self, number: int, span: slice) -> Longs:
        """Return the number of live documents of each of the strings of a segment at `span`."""
        segment = self.segments[number]
        if not self.dead[number]:
            return segment.counts[span]
        starts = segment.starts[span.start : span.stop + 1]
        kept = self.live[number][segment.docs[starts[0] : starts[-1]]]
        counts: Longs = np.diff(np.concatenate([[0], np.cumsum(kept)])[starts - starts[0]])
        return counts

    def name_share(self, string: str) -> float:
        """Return the share of the documents with a string that have it in their names, at least SMOOTHING of them."""
        return self.once(("named", string), lambda: self._name_share(string))

    def _name_share(self, string: str) -> float:
        count, *places = self.places([string])[0]
        named = 0
        for segment, live, place in zip(self.segments, self.live, places, strict=True):
            span = segment.span_of(place)
            named += int(np.count_nonzero(live[segment.docs[span]] & (segment.values[span] & NAMED != 0)))
        return named / (count + SMOOTHING)

    def idf(self, frequency: float, size: int | None = None) -> float:
        """Return the inverse document frequency for `frequency` of `size` documents, by default of all."""
        return inverse_document_frequency(frequency, self.size if size is None else size)

    def completions(self, prefix: str, limit: int) -> dict[str, int]:
        """Return the `limit` most frequent strings that begin with `prefix`, with their frequencies."""
        longer: dict[str, None] = {}
        for number, segment in enumerate(self.segments):
            span = segment.span(prefix)
            counts_here = self._counts(number, span)
            places = np.flatnonzero(counts_here)
            if len(places) > limit:
                # Those that are frequent in all segments together are so in one.
                places = places[np.lexsort((places, -counts_here[places]))[: 2 * limit]]
            places += span.start
            longer |= dict.fromkeys(map(segment.text, places.tolist()))
        counts = dict(zip(longer, self.frequencies([*longer]), strict=True))
        first = sorted(counts, key=lambda string: (-counts[string], string))[:limit]
        return {string: counts[string] for string in first}

    def longer_names(self, prefix: str, limit: int) -> list[str]:
        """Return the `limit` shortest special terms that begin with `prefix`."""
        longer: set[str] = set()
        for number, segment in enumerate(self.segments):
            span = segment.span(prefix)
            strings = segment.strings[span][self._counts(number, span) > 0]
            if len(strings) > limit:
                strings = strings[np.argsort(np.char.str_len(strings), kind="stable")[:limit]]
            longer.update(string.decode("utf-8", "replace") for string in strings.tolist())
        return sorted(longer, key=lambda string: (len(string), string))[:limit]

    def count_with_both(self, one: str, other: str) -> int:
        """Return the number of documents with both strings."""
        return sum(
            int(np.count_nonzero(live[np.intersect1d(segment.having(one), segment.having(other), assume_unique=True)]))
            for segment, live in zip(self.segments, self.live, strict=True)
        )

    def near(self, word: str, edits: int, prefix: str = "") -> dict[str, int]:
        """Return the strings within `edits` of `prefix` and `word`, without the prefix, with their edits."""
        near = {
            string: distance
            for segment in self.segments
            for string, distance in segment.near_words(prefix).find(word, edits)
        }
        counts = self.frequencies([prefix + string for string in near])
        return {string: near[string] for string, count in zip(near, counts, strict=True) if count}

    def postings(self, strings: Sequence[str]) -> list[tuple[Longs | Ints, Shorts]]:
        """Return for each of `strings` the documents that have it, and the values of its postings, in each segment."""
        columns = [*zip(*self.places(strings), strict=True)][1:]
        parts: list[tuple[Longs | Ints, Shorts]] = []
        for segment, base, places in zip(self.segments, self.bases, columns, strict=False):
            docs, values = segment.docs, segment.values
            spans = [*map(segment.span_of, places)]
            parts += [(docs[span] + base if base else docs[span], values[span]) for span in spans]
        return parts

    def having(self, strings: Iterable[str]) -> Longs:
        """Return the documents, live or not, with one of `strings`."""
        docs = [
            segment.having(string) + base
            for string in strings
            for segment, base in zip(self.segments, self.bases[:-1], strict=True)
        ]
        return np.concatenate([np.empty(0, np.int64), *docs])

    def named(self, strings: Iterable[str]) -> Longs:
        """Return the documents, live or not, with one of `strings` in the name."""
        docs = [np.empty(0, np.int64)]
        for _string, (_, *places) in zip(strings, self.places([*strings]), strict=True):
            for segment, base, place in zip(self.segments, self.bases, places, strict=False):
                span = segment.span_of(place)
                docs.append(segment.docs[span][segment.values[span] & NAMED != 0] + base)
        return np.concatenate(docs)

    def located(self, docs: Longs) -> Iterable[tuple[Segment, Any, Longs]]:
        """Yield each segment with the places in `docs` of its documents, and their numbers in it."""
        if len(self.segments) == 1:
            yield self.segments[0], slice(None), docs
            return
        numbers = np.searchsorted(self.bases, docs, side="right") - 1
        for number in np.flatnonzero(np.bincount(numbers)).tolist():
            places = np.flatnonzero(numbers == number)
            yield self.segments[number], places, docs[places] - self.bases[number]

    def column(self, name: str, docs: Longs) -> Any:
        """Return what `docs` have in a column of the segments."""
        if len(self.segments) == 1:
            return getattr(self.segments[0], name)[docs]
        first = getattr(self.segments[0], name) if self.segments else np.empty(0)
        values = np.empty((len(docs), *first.shape[1:]), first.dtype)
        for segment, places, numbers in self.located(docs):
            values[places] = getattr(segment, name)[numbers]
        return values

    def items(self, name: str, docs: Longs) -> list[bytes]:
        """Return the bytes that `docs` have in a packed column of the segments."""
        items: list[bytes] = [b""] * len(docs)
        for segment, places, numbers in self.located(docs):
            pack = getattr(segment, name)
            for place, number in zip(np.arange(len(docs))[places].tolist(), numbers.tolist(), strict=True):
                items[place] = pack[number]
        return items

    def doc_of(self, mcp_id: str) -> int:
        """Return the live document of an entry, -1 if there is none."""
        for segment, live, base in zip(self.segments, self.live, self.bases, strict=False):
            number = segment.number_of(mcp_id)
            if number is not None and live[number]:
                return base + number
        return -1

    def name(self, doc: int) -> str:
        """Return the server name of a document."""
        number = bisect_right(self.bases, doc) - 1
        return self.segments[number].name(doc - self.bases[number])
