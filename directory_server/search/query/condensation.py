"""Condensation: the part of a long text that is searched for, such as the request in a conversation."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain, islice

from ...domain.filters import PIECE
from ..index.collection import Collection
from ..text.analysis import fold, stem, words
from .stop_words import GENERAL_STEMS, STOP_WORDS

MAX_LENGTH = 256
"""Characters of keywords that are searched for as they are, and of what is kept of longer ones."""

MAX_PART = 120
"""Characters of a part of a sentence, which is kept or left out as a whole."""

MIN_PART = 10
"""Characters of a sentence that is a part of its own."""

MAX_TOKENS = 20
"""Words of a part that are weighed, and pairs of characters of scripts without spaces."""

SHARE = 0.8
"""The least weight of a part that is kept, relative to the greatest."""

SMOOTHING = 1
"""Words that are added to those of a part before its weight is divided by them: a short part is less certain."""

TYPICAL_SHARE = 0.01
"""The share of the entries that have a word which gets half of its rarity as weight."""

LEAST_WEIGHT = 1.0
"""The weight of a word that few entries or none have: a name, or a word that is not about servers."""

CONCEPT_WEIGHT = 2.0
"""The weight that a word gains if it asks for a concept."""

_END = re.compile(r"[.!?;…]+(?=\s|$)|[。！？；।؟\n]|(?<=\s)[-–—*•](?=\s)")
"""The end of a sentence, or of an item of a list."""


def condensed(keywords: str, collection: Collection) -> str:
    """Return short `keywords` unchanged; of longer ones the filters, and the sentences that tell most about servers.

    The result has at most MAX_LENGTH characters. Exclusions are left out: a long text has hyphens of other meanings.
    """
    if len(keywords) <= MAX_LENGTH:
        return keywords
    filters = " ".join(piece[0] for piece in PIECE.finditer(keywords) if piece["filter"])[:MAX_LENGTH]
    # A repeated part tells nothing more.
    parts = [*dict.fromkeys(_parts(PIECE.sub(lambda piece: f" {piece['phrase'] or ''} ", keywords)))]
    weights = [_weight(part, collection) for part in parts]
    least, left = SHARE * max(weights, default=0.0), MAX_LENGTH - len(filters)
    kept = []
    for number in sorted(range(len(parts)), key=lambda number: (-weights[number], number)):
        # Each part is followed by a full stop and a space: the last word is no beginning of another.
        if weights[number] >= least and len(parts[number]) + 2 <= left:
            kept.append(number)
            left -= len(parts[number]) + 2
    return "".join((*(f"{parts[number]}. " for number in sorted(kept)), filters))


def _parts(text: str) -> Iterator[str]:
    """Yield the sentences of `text`, long ones in parts, and short ones together."""
    part = ""
    for sentence in _END.split(text):
        pieces = (word[at : at + MAX_PART] for word in sentence.split() for at in range(0, len(word), MAX_PART))
        for piece in pieces:
            if part and len(part) + 1 + len(piece) > MAX_PART:
                yield part
                part = ""
            part = f"{part} {piece}" if part else piece
        if len(part) >= MIN_PART:
            yield part
            part = ""
    if part:
        yield part


def _weight(part: str, collection: Collection) -> float:
    """Return the mean weight of the distinct words of a part."""
    # Folding may expand a character to 18.
    found = words(fold(part)[:MAX_PART], humps=True)[:MAX_TOKENS]
    tokens = [*islice(dict.fromkeys(chain.from_iterable(word.tokens for word in found)), MAX_TOKENS)]
    asking = {word for match in collection.thesaurus.matches(found) for word in match.stems | match.pieces}
    total = sum(_word_weight(token, collection) for token in tokens) + CONCEPT_WEIGHT * len(asking - STOP_WORDS)
    return total / (len(tokens) + SMOOTHING)


def _word_weight(token: str, collection: Collection) -> float:
    """Return the rarity of a word, and less for one that few entries have."""
    if token in STOP_WORDS or stem(token) in GENERAL_STEMS:
        return 0.0
    frequency = collection.word(token)[1]
    typical = frequency / (frequency + TYPICAL_SHARE * collection.size) if frequency else 0.0
    return max(typical * collection.idf(frequency), LEAST_WEIGHT)
