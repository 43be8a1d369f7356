"""The terms that may stand for what a person typed: the word itself, what it begins, what it misspells or means."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from math import log

import numpy as np
from attrs import evolve, frozen
from rapidfuzz.distance import OSA, JaroWinkler

from ._analysis import COMMON_PARTS, stem
from ._lexicon import Lexicon
from ._pinyin import pinyin
from ._query import Typed
from ._segment import MISSPELT, Segment
from ._thesaurus import Concept, Thesaurus
from ._vocabulary import Vocabulary

RARE = 4
"""Documents below which a word may be a misspelling of another."""

FRAGMENT = 10
"""Entries with words that a last word begins, for each with the word itself, from which it is taken for unfinished."""

COMPLETED, COMPLETED_TOO = 0.8, 0.35
"""What a word weighs that the last one begins: where that is no word itself, and where it is."""

CORRECTED = {1: 0.8, 2: 0.65}
"""What a word weighs that is one or two edits away, before it is seen how like it looks."""

JOINED = 0.7
"""What two words weigh that are written as one."""

MEANT = 0.5
"""What a word weighs that stands for another in another language or way of speaking."""

MEANT_SO = 0.7
"""What a term weighs that servers use for what people speak of."""

MAX_COMPLETIONS = 256
"""Words that may complete another, those first that most documents hold."""

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


@frozen
class Group:
    """Terms of which any may stand for one thing that was typed, each with its weight, and how rare they are.

    `literal` tells whether they are words that were typed, or what those speak of.
    """

    typed: str
    terms: Mapping[int, float]
    rarity: float
    literal: bool = True


@frozen
class Collection:
    """What the terms of a query are looked up in."""

    vocabulary: Vocabulary
    segments: Sequence[Segment]
    lexicon: Lexicon
    thesaurus: Thesaurus

    @property
    def size(self) -> int:
        return sum(map(len, self.segments))

    def frequency(self, term: int) -> int:
        """Return the number of documents that have a term."""
        return sum(segment.frequency(term) for segment in self.segments)

    def rarity(self, frequency: float, size: int) -> float:
        """Return how telling it is to have what `frequency` of `size` documents have (idf of BM25)."""
        frequency = min(frequency, size)
        return log(1 + (size - frequency + 0.5) / (frequency + 0.5))


def groups(typed: Typed, among: Collection) -> list[Group]:
    """Return a group for each thing that was typed, those without a term left out."""
    meant = among.thesaurus.meant(typed.words)
    found = [
        *_spaced(typed, among),
        *_joined(typed, among),
        *_unsegmented(typed, among),
        *(_concept(concept, among) for concept in meant),
    ]
    return [group for group in found if group is not None]


def _concept(concept: Concept, among: Collection) -> Group | None:
    weights: dict[int, float] = {}
    _add(weights, among, dict.fromkeys(concept.terms, MEANT_SO))
    group = _group(concept.name, weights, among)
    return group and evolve(group, literal=False)


def _spaced(typed: Typed, among: Collection) -> Iterator[Group | None]:
    parts = [part for word in typed.words if word.spaced for part in word.parts]
    telling = [part for part in parts if part not in STOP_WORDS]
    if not telling and all(word.spaced for word in typed.words):
        telling = parts
    last = parts[-1] if parts and typed.words[-1].spaced and not typed.ends else None
    for part in {stem(part): part for part in telling}.values():
        yield _word(part, among, unfinished=part == last)


def _word(part: str, among: Collection, *, unfinished: bool) -> Group | None:
    own = among.vocabulary.find(stem(part))
    frequency = among.frequency(own) if own is not None else 0
    weights: dict[int, float] = {own: 1.0} if own is not None and frequency else {}
    longer = completions(part, among) if unfinished and len(part) > 1 else {}
    begun = sum(longer.values())
    if frequency < RARE or begun > FRAGMENT * frequency:
        most = max(longer.values(), default=1)
        _add(weights, among, {word: COMPLETED * (0.7 + 0.3 * count / most) for word, count in longer.items()})
    elif len(part) > MISSPELT.start:
        _add(weights, among, dict.fromkeys(longer, COMPLETED_TOO))
    if frequency < RARE and begun < RARE and len(part) > MISSPELT.start and part.isascii():
        _add(weights, among, _corrections(part, among, frequency))
    return _group(part, weights, among)


def completions(prefix: str, among: Collection) -> dict[str, int]:
    """Return the words that `prefix` begins, and how many documents hold each."""
    counted: dict[str, int] = {}
    for segment in among.segments:
        begun, counts = segment.dictionary.begun(prefix)
        for number in np.argsort(-counts, kind="stable")[:MAX_COMPLETIONS].tolist():
            if begun[number] != prefix:
                counted[begun[number]] = counted.get(begun[number], 0) + int(counts[number])
    return counted


def _corrections(part: str, among: Collection, frequency: int) -> dict[str, float]:
    edits = 1 if len(part) < 5 else 2
    near: dict[str, int] = {}
    counted: dict[str, int] = {}
    for segment in among.segments:
        for word, count in segment.dictionary.like(part, edits):
            distance = near.get(word) or OSA.distance(part, word, score_cutoff=edits)
            if 0 < distance <= edits and (distance == 1 or word[0] == part[0]):
                near[word] = distance
                counted[word] = counted.get(word, 0) + count
    if any(distance == 1 and counted[word] > 1 for word, distance in near.items()):
        near = {word: distance for word, distance in near.items() if distance == 1}
    return {
        word: CORRECTED[distance] * JaroWinkler.similarity(part, word) ** 4
        for word, distance in near.items()
        if counted[word] > frequency
    }


def _joined(typed: Typed, among: Collection) -> Iterator[Group | None]:
    parts = [part for word in typed.words if word.spaced for part in word.parts]
    for pair in pairwise(parts):
        weights: dict[int, float] = {}
        _add(weights, among, {"".join(pair): JOINED})
        yield _group(" ".join(pair), weights, among)


def _unsegmented(typed: Typed, among: Collection) -> Iterator[Group | None]:
    for word in typed.words:
        if word.spaced:
            continue
        for token in word.tokens:
            weights: dict[int, float] = {}
            _add(weights, among, {token: 1.0})
            if len(token) == 1:
                _add(weights, among, dict.fromkeys(completions(token, among), COMPLETED))
            _add(weights, among, {term: MEANT * weight for term, weight in among.lexicon.meanings(token).items()})
            yield _group(token, weights, among, size=among.lexicon.size)
        for romanised in _romanised(word.parts[0]):
            weights = {}
            _add(weights, among, {romanised: 1.0})
            yield _group(romanised, weights, among)


def _romanised(run: str) -> list[str]:
    """Return how parts of a run of Chinese characters are spelt in names: as pinyin, run together."""
    syllables = pinyin(run)
    spans = [syllables[i : i + n] for n in (2, 3, 4) for i in range(len(syllables) - n + 1)]
    return ["".join(span) for span in spans if all(span)]


def _add(weights: dict[int, float], among: Collection, words: Mapping[str, float]) -> None:
    for word, weight in words.items():
        term = among.vocabulary.find(stem(word))
        if term is not None and weight > weights.get(term, 0):
            weights[term] = weight


def _group(typed: str, weights: dict[int, float], among: Collection, size: int | None = None) -> Group | None:
    present = {term: count for term in weights if (count := among.frequency(term))}
    if not present:
        return None
    most = max(weights[term] for term in present)
    frequency = sum(weights[term] / most * count for term, count in present.items())
    rarity = among.rarity(frequency, size if size is not None and len(present) == 1 else among.size)
    return Group(typed, {term: weights[term] for term in present}, rarity)
