"""The terms that may stand for what a person typed: the word itself, what it begins, what it misspells or means."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

import numpy as np
from attrs import frozen

from ..index.collection import Collection
from ..index.segment import MISSPELT, Floats, Segment
from ..index.vocabulary import Ints
from ..text.analysis import COMMON_PARTS, stem
from ..text.pinyin import pinyin
from .parsing import Typed
from .spelling import alike, completions, corrections

RARE = 4
"""Documents below which a word may be a misspelling of another."""

FRAGMENT = 10
"""Entries with words that a last word begins, for each with the word itself, from which it is taken for unfinished."""

COMPLETED, COMPLETED_TOO = 0.8, 0.35
"""What a word weighs that the last one begins: where that is no word itself, and where it is."""

MAX_CORRECTED = 4
"""Words of one query that are corrected; who types more of them that nobody knows does not misspell."""

JOINED = 0.7
"""What two words weigh that are written as one."""

MEANT = 0.5
"""What a word weighs that stands for another in another language or way of speaking."""

_FUNCTION_WORDS = """
a about am an and any are as at be best by can could do does find for from get good has have help how i if im in
into is it its let me my need of on or our please should show so some that the their them then there these they
this to tool tools up us want was we what when where which who will with would you your
au aux avec dans de des du en est et la le les mes mon pour sur un une
auf das dem den der die ein eine fur ich im ist mein meine meinen mit und von wann wie zu zum zur
como con de del el en es la las los mi mis para por que un una y
com da do dos em meu meus minha na no o os para por que um uma
"""

STOP_WORDS = COMMON_PARTS | frozenset(_FUNCTION_WORDS.split())
"""What tells nothing while other words do."""


Postings = tuple[Ints, Floats]
"""Documents of a segment, and a score for each."""


@frozen
class Group:
    """Terms of which any may stand for one thing that was typed, each with its weight, and how rare they are.

    Where they go `together` a document must have all of them.
    """

    typed: str
    terms: Mapping[int, float]
    rarity: float
    together: bool = False

    def found(self, segments: Sequence[Segment]) -> list[Postings]:
        """Return for each of `segments` the documents that the group finds, and what it scores in each."""
        return [self._postings(segment) for segment in segments]

    def _postings(self, segment: Segment) -> Postings:
        if len(self.terms) == 1:
            ((term, weight),) = self.terms.items()
            holders, impacts = segment.postings(term)
            return holders, np.float32(self.rarity * weight) * impacts
        if self.together:
            return self._of_all(segment)
        terms = np.fromiter(self.terms, np.int64, len(self.terms))
        weights = np.fromiter(self.terms.values(), np.float32, len(terms)) * np.float32(self.rarity)
        holders, impacts, counts = segment.all_postings(terms)
        best = np.zeros(len(segment), np.float32)
        np.maximum.at(best, holders, np.repeat(weights, counts) * impacts)
        holders = np.flatnonzero(best > 0).astype(np.int32)
        return holders, best[holders]

    def _of_all(self, segment: Segment) -> Postings:
        """Return the documents that have all terms, and what the one that gives least scores."""
        least = np.full(len(segment), np.inf, np.float32)
        holders: Ints = np.empty(0, np.int32)
        for term, weight in self.terms.items():
            having, impacts = segment.postings(term)
            scores = np.zeros(len(segment), np.float32)
            scores[having] = np.float32(self.rarity * weight) * impacts
            np.minimum(least, scores, out=least)
            holders = having
        holders = holders[least[holders] > 0]
        return holders, least[holders]


def groups(typed: Typed, among: Collection) -> list[Group]:
    """Return a group for each thing that was typed, those without a term left out."""
    found = [*_spaced(typed, among), *_joined(typed, among), *_unsegmented(typed, among)]
    return [group for group in found if group is not None]


def relaxed(typed: Typed, among: Collection) -> list[Group]:
    """Return the groups of what looks most like what was typed, where nothing else is found."""
    parts = dict.fromkeys(part for word in typed.words if word.spaced for part in word.parts)
    characters = dict.fromkeys(character for word in typed.words if not word.spaced for character in word.parts[0])
    found = [_group(part, alike(part, among), among) for part in [*parts][:MAX_CORRECTED]]
    found += [_group(each, dict.fromkeys(completions(each, among), COMPLETED), among) for each in characters]
    return [group for group in found if group is not None]


def _spaced(typed: Typed, among: Collection) -> Iterator[Group | None]:
    parts = [part for word in typed.words if word.spaced for part in word.parts]
    telling = [part for part in parts if part not in STOP_WORDS]
    if not telling and all(word.spaced for word in typed.words):
        telling = parts
    last = parts[-1] if parts and typed.words[-1].spaced and not typed.ends else None
    corrected = 0
    for part in {stem(part): part for part in telling}.values():
        weights, correct = _known(part, among, unfinished=part == last)
        if correct is not None and corrected < MAX_CORRECTED:
            corrected += 1
            _strengthen(weights, corrections(part, among, correct))
        yield _group(part, weights, among)


def _known(part: str, among: Collection, *, unfinished: bool) -> tuple[dict[int, float], int | None]:
    """Return the terms that a word is or begins, and for one that may be misspelt how many documents hold it."""
    own = among.vocabulary.find(stem(part))
    frequency = among.frequency(own) if own is not None else 0
    weights: dict[int, float] = {own: 1.0} if own is not None and frequency else {}
    longer = completions(part, among) if unfinished and len(part) > 1 else {}
    begun = sum(longer.values())
    if frequency < RARE or begun > FRAGMENT * frequency:
        most = max(longer.values(), default=1)
        _strengthen(weights, {term: COMPLETED * (0.7 + 0.3 * count / most) for term, count in longer.items()})
    elif len(part) > MISSPELT.start:
        _strengthen(weights, dict.fromkeys(longer, COMPLETED_TOO))
    if frequency < RARE and begun < RARE and len(part) > MISSPELT.start and part.isascii():
        return weights, frequency
    return weights, None


def _joined(typed: Typed, among: Collection) -> Iterator[Group | None]:
    parts = [part for word in typed.words if word.spaced for part in word.parts]
    for pair in pairwise(parts):
        weights: dict[int, float] = {}
        _add(weights, among, {"".join(pair): JOINED})
        yield _group(" ".join(pair), weights, among)


def _unsegmented(typed: Typed, among: Collection) -> Iterator[Group | None]:
    unsegmented = [word for word in typed.words if not word.spaced]
    for token in dict.fromkeys(token for word in unsegmented for token in word.tokens):
        weights: dict[int, float] = {}
        _add(weights, among, {token: 1.0})
        if len(token) == 1:
            _strengthen(weights, dict.fromkeys(completions(token, among), COMPLETED))
        _add(weights, among, {term: MEANT * weight for term, weight in among.lexicon.meanings(token).items()})
        yield _group(token, weights, among, size=among.lexicon.size)
    for romanised in dict.fromkeys(name for word in unsegmented for name in _romanised(word.parts[0])):
        weights = {}
        _add(weights, among, {romanised: 1.0})
        yield _group(romanised, weights, among)


def _romanised(run: str) -> list[str]:
    """Return how parts of a run of Chinese characters are spelt in names: as pinyin, run together."""
    syllables = pinyin(run)
    spans = [syllables[i : i + n] for n in (2, 3, 4) for i in range(len(syllables) - n + 1)]
    return ["".join(span) for span in spans if all(span)]


def _add(weights: dict[int, float], among: Collection, words: Mapping[str, float]) -> None:
    found = ((among.vocabulary.find(stem(word)), weight) for word, weight in words.items())
    _strengthen(weights, {term: weight for term, weight in found if term is not None})


def _strengthen(weights: dict[int, float], others: Mapping[int, float]) -> None:
    for term, weight in others.items():
        if weight > weights.get(term, 0.0):
            weights[term] = weight


def _group(typed: str, weights: Mapping[int, float], among: Collection, size: int | None = None) -> Group | None:
    if not weights:
        return None
    counts = among.frequencies(weights)
    present = {term: count for term, count in zip(weights, counts, strict=True) if count}
    if not present:
        return None
    most = max(weights[term] for term in present)
    frequency = sum(weights[term] / most * count for term, count in present.items())
    rarity = among.rarity(frequency, size if len(present) == 1 else None)
    return Group(typed, {term: weights[term] for term in present}, rarity)
