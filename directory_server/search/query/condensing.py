"""Long texts: the sentence that asks for a server, and the words of the text beside it.

An agent sends a conversation, a role or a ticket with one request in it. Its sentence tells the need, and the others
tell the products that it is about.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice

from ...domain.filters import PIECE
from ..index.view import View
from ..tables.stop_words import GENERAL_WORDS, STOP_WORDS
from ..tables.thesaurus import thesaurus
from ..text import is_unspaced, runs, stem
from .parsing import ParsedQuery, parse, topic

MAX_LENGTH = 256
"""Characters of keywords that are searched for as they are."""

MAX_SENTENCE, MIN_SENTENCE, MAX_SENTENCES = 300, 10, 200
"""Characters of a sentence that are read, and of the shortest one; sentences that are compared."""

SMOOTHING, LENGTH_POWER = 3, 0.75
"""Words that are added to those of a sentence, and the power of their number that its weight is divided by."""

TYPICAL_SHARE = 0.002
"""The share of the entries that have a word which gets half of its rarity as weight."""

UNKNOWN, OF_NAMES, OF_CONCEPTS = 0.3, 0.6, 2.0
"""The weight of a word that no entry has; the factor of a word that no entry has in its name, which grows to 1.6; and
the weight that a word gains if it asks for a concept."""

ASKING, MAX_ASKING, DENYING = 1.0, 3, 0.5
"""The factor that a sentence gains for each word by which one asks for a server, at most so many; and the factor of one
that says what is not needed."""

MAX_BESIDE, MIN_RARITY, MIN_ENTRIES = 32, 3.0, 4
"""Words of other sentences that are searched, their least idf, and the least number of entries that have them."""

_END = re.compile(r"[.!?;…]+(?=\s|$)|[。！？；।؟\n]|(?<=\s)[-–—*•](?=\s)")
"""The end of a sentence, or of an item of a list."""

_ASKING = re.compile(
    r"\b(?:needs?|needed|wants?|wanted|look(?:ing)? for|find|(?:would|'d) like"
    r"|like (?:our|my|the|an?) (?:agent|assistant)|mcp|servers?|tools? (?:that|which|for|to)|must|able to"
    r"|capabilit\w+|requests?|goal|required?|requires|recommend"
    r"|so that|help me|please|task|lack)\b",
    re.IGNORECASE,
)
_DENYING = re.compile(
    r"\b(?:do|does|is|did|are)(?: not|n't)\b|\b(?:dont|no|not|never|already|tried|without)\b", re.IGNORECASE
)


def parse_long(keywords: str, view: View) -> tuple[ParsedQuery, Sequence[str], str]:
    """Return the parsed request in long `keywords`, the words beside it, and the text of both.

    Filters stay. Exclusions are left out: a long text has hyphens of other meanings.
    """
    text = topic(keywords)
    filters = " ".join(piece[0] for piece in PIECE.finditer(keywords) if piece["filter"])[:MAX_LENGTH]
    sentences = [*dict.fromkeys(islice(_sentences(text), MAX_SENTENCES))]
    request = max(sentences, key=lambda sentence: _weight(sentence, view), default=text[:MAX_SENTENCE])
    # A full stop: the last word is no beginning of another.
    parsed = parse(f"{request}. {filters}")
    beside = _beside(text, {*map(stem, parsed.spaced)}, view)
    return parsed, beside, " ".join([request, *filters.split(), *beside])


def _sentences(text: str) -> Iterator[str]:
    for sentence in _END.split(text):
        plain = " ".join(sentence[: 2 * MAX_SENTENCE].split())[:MAX_SENTENCE]
        if len(plain) >= MIN_SENTENCE:
            yield plain


def _weight(sentence: str, view: View) -> float:
    """Return how likely a sentence says what server is needed."""
    words = [*dict.fromkeys(part for parts, _ in runs(sentence, humps=True) for part in parts)]
    spaced = [word for word in words if not is_unspaced(word)]
    matches = thesaurus().matches(spaced, [word for word in words if is_unspaced(word)])
    asking = {part for match in matches for part in match.stems | match.pieces} - STOP_WORDS
    view.frequencies([*map(stem, spaced)])
    total = sum(_word_weight(word, view) for word in words) + OF_CONCEPTS * len(asking)
    factor = 1 + ASKING * min(len(_ASKING.findall(sentence)), MAX_ASKING)
    factor *= DENYING if _DENYING.search(sentence) else 1.0
    return float(factor * total / (len(words) + SMOOTHING) ** LENGTH_POWER)


def _word_weight(word: str, view: View) -> float:
    """Return the rarity of a word, and less for one that few entries have, more for one in names."""
    if word in STOP_WORDS or word in GENERAL_WORDS:
        return 0.0
    frequency = view.frequencies([stem(word)])[0]
    if not frequency:
        return UNKNOWN
    typical = frequency / (frequency + TYPICAL_SHARE * view.size)
    return view.idf(frequency) * typical * (OF_NAMES + view.name_share(stem(word)))


def _beside(text: str, known: set[str], view: View) -> Sequence[str]:
    """Return the rare words of a text whose stems are not `known`, the most frequent in it first."""
    words = (part for parts, _ in runs(text, humps=False) for part in parts)
    counts = Counter(
        word
        for word in words
        if not (word in STOP_WORDS or word in GENERAL_WORDS or word.isdigit() or is_unspaced(word))
    )
    frequencies = dict(zip(counts, view.frequencies([*map(stem, counts)]), strict=True))
    # A small catalogue has few entries for each word.
    least = min(MIN_ENTRIES, 1 + view.size // 1_000)
    rare = [
        word
        for word, _ in counts.most_common()
        if stem(word) not in known and frequencies[word] >= least and view.idf(frequencies[word]) >= MIN_RARITY
    ]
    return rare[:MAX_BESIDE]
