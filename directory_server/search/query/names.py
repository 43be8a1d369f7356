"""Names: the evidence that an entry is called what was typed, or begins so."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from ..index.collection import Collection
from ..index.document import BARE_NAME, FULL_NAME, MAKER, SHORT_NAME, SPELT, phrase
from ..text.analysis import COMMON_PARTS, key
from .parsing import Typed
from .spelling import misspelt
from .terms import Group

CALLED_SO = {FULL_NAME: 3.0, BARE_NAME: 0.6, SPELT: 0.6, MAKER: 2.0}
"""What an entry scores for being called what was typed, as a share of what all words together are worth."""

BEGINS_SO, BEGUN = 0.4, 1.2
"""What its name scores that begins with what was typed, as such a share, and what more if that is all of it."""

BEGUN_SPELT = 0.4
"""What it scores besides for being that to the letter, times the share of it that was typed."""

BEGINNING = 1
"""Letters from which what was typed may be the beginning of a name."""

MISSPELT_SO = 0.6
"""What a name scores that is an edit or two from what was typed, as such a share."""

NAME_LETTERS = 3
"""Letters from which what was typed may be a misspelt name."""

LONG_NAME = 9
"""Letters from which a misspelt name may have two edits."""

MAX_BEGUN = 256
"""Names that are taken for begun, the shortest first."""


def called(typed: Typed, among: Collection, worth: float) -> list[Group]:
    """Return the groups of names that are what was typed; `worth` is what all its words are worth."""
    names = {
        FULL_NAME: key(typed.words),
        BARE_NAME: key(typed.words, without=COMMON_PARTS),
        SPELT: phrase(typed.text),
        MAKER: key(typed.words, without=COMMON_PARTS),
    }
    found = ((kind, among.vocabulary.find(kind + name)) for kind, name in names.items() if name)
    return [
        Group(kind, {term: CALLED_SO[kind]}, worth)
        for kind, term in found
        if term is not None and among.frequency(term)
    ]


def begun(typed: Typed, among: Collection, worth: float) -> Iterator[Group]:
    """Yield the groups of names that are what was typed or, where that is unfinished, begin with it."""
    name, spelt = key(typed.words), phrase(typed.text)
    if weights := _begun(SHORT_NAME + name, len(SHORT_NAME), BEGINS_SO, BEGUN, typed, among):
        yield Group(f"{name}…", weights, worth)
    if name and (weights := _begun(SPELT + spelt, len(SPELT), 0.0, BEGUN_SPELT, typed, among)):
        yield Group(f"{spelt}…", weights, worth)


def _begun(
    beginning: str, kind: int, least: float, more: float, typed: Typed, among: Collection
) -> Mapping[int, float]:
    """Return the names that begin with `beginning`, of which `kind` letters are the mark, each with its share."""
    whole = among.vocabulary.find(beginning)
    weights: dict[int, float] = {} if whole is None or not among.frequency(whole) else {whole: least + more}
    for segment in among.segments if len(beginning) - kind >= BEGINNING and not typed.ends else ():
        dictionary = segment.dictionary
        span = dictionary.begun(beginning)
        terms, lengths = dictionary.terms[span], dictionary.lengths[span] - np.uint8(kind)
        if len(terms) > MAX_BEGUN:
            shortest = np.argpartition(lengths, MAX_BEGUN)[:MAX_BEGUN]
            terms, lengths = terms[shortest], lengths[shortest]
        shares = least + more * (len(beginning) - kind) / lengths
        weights.update(zip(terms.tolist(), shares.tolist(), strict=True))
    return weights


def nearly_called(typed: Typed, among: Collection, worth: float) -> Iterator[Group]:
    """Yield the group of names that what was typed misspells, if there are any.

    Its words may all be known, as they are in a name that lacks the blank between two of them.
    """
    name = key(typed.words)
    if len(name) < NAME_LETTERS or not name.isascii():
        return
    weights: dict[int, float] = {}
    for segment in among.segments:
        dictionary = segment.dictionary
        for place, distance in misspelt(name, 1 if len(name) < LONG_NAME else 2, dictionary, SHORT_NAME):
            weights[int(dictionary.terms[place])] = MISSPELT_SO * (1 - distance / len(name)) ** 2
    if weights:
        yield Group(f"{name}, misspelt", weights, worth)
