"""Query parsing: words, phrases, exclusions and filters."""

from __future__ import annotations

import re
from collections.abc import Sequence

from attrs import field, frozen

from ...domain.filters import PIECE, filter_values
from ...domain.kinds import ANY, SERVER, unlisted
from ..index.facets import facet
from ..tables.languages import foreign_letters
from ..tables.stop_words import UNSPACED_REQUESTS
from ..text import Run, fold, is_unspaced, phrase, runs, stem, tokens

MAX_WORDS = 32
"""Words of one query. Later ones are ignored."""

MAX_TEXT = 512
"""Characters of a folded query; the rest is cut. Folding may expand a character (U+FDFA to 18)."""

MAX_RUN = 60
"""Characters of a run of a script without spaces."""

MAX_PHRASES = 3
"""Exact phrases of one query. The words of further phrases are searched as single words."""

MIN_SENTENCE = 8
"""Words beside the quoted ones, from which a query is a sentence. It quotes names and speech, and no exact phrases."""

MAX_CAPITALS, MIN_CAPITALS_OF = 0.6, 3
"""The share of the words of a query that have capitals, above which these tell nothing, and the least words for it."""

_CLITIC = re.compile(r"(?<=\w)['’]s\b|\b(?:[cdjlmnst]|qu)['’](?=\w)", re.IGNORECASE)
"""The English possessive, and elided articles and pronouns of French and Italian."""

_TOKEN = re.compile(r"[^\W_]+")

_SENTENCE_START = re.compile(r"(?:^|[.!?:]\s)\W*$")
"""The text before the first word of a sentence."""

_UNFINISHED = re.compile(r"[^\W_](?:[-_./]|\#|\+\+)?$")
"""The end of a query whose last word may go on: a letter or digit, also before a separator or symbol of names."""


@frozen
class ParsedQuery:
    """A parsed query.

    `text` is the folded text. `runs` are its words, split at the humps of camelCase, `whole` the same as written. An
    entry must have one term of each of `required`, all `phrases` (folded text), and none of `excluded` (terms).
    `is_complete` is true if the last word is finished, false if it may be a prefix. `letters` are those that English
    lacks, with their accents. `capitals` are the words with capitals, in lower case, if few words have some.
    """

    text: str
    runs: Sequence[Run]
    whole: Sequence[Run]
    is_complete: bool
    required: Sequence[Sequence[str]] = ()
    phrases: Sequence[str] = ()
    excluded: Sequence[str] = ()
    letters: frozenset[str] = frozenset()
    capitals: frozenset[str] = frozenset()
    spaced: Sequence[str] = field(init=False, repr=False)

    @spaced.default
    def _spaced_words(self) -> Sequence[str]:
        return [part for parts, _ in self.runs for part in parts if not is_unspaced(part)]


def topic(keywords: str) -> str:
    """Return `keywords` without filters and exclusions, as they are written."""
    return PIECE.sub(lambda piece: f" {piece['phrase'] or ''} ", keywords).strip()


def parse(keywords: str) -> ParsedQuery:
    """Return the parsed query. Nothing is a syntax error: all that is not a filter is words."""
    required: list[Sequence[str]] = []
    phrases: list[str] = []
    excluded: list[str] = []
    plain = keywords
    if ":" in keywords or "-" in keywords or '"' in keywords:
        is_sentence = len(PIECE.sub(" ", keywords).split()) >= MIN_SENTENCE
        for piece in PIECE.finditer(keywords):
            if piece["excluded"]:
                excluded += [stem(token) for token in tokens(piece["excluded"])[:1]]
            elif piece["filter"]:
                name = piece["filter"].lower()
                values = filter_values(name, piece["value"])
                if name == "kind" and not {SERVER, ANY}.isdisjoint(values):
                    # Servers have no term. "none" is the term of no entry: this filter alone is a condition, too.
                    excluded += [facet(name, value) for value in (unlisted(values) or ("none",))]
                else:
                    required.append(tuple(facet(name, value) for value in values))
            elif not is_sentence and (exact := phrase(piece["phrase"])) and len(phrases) < MAX_PHRASES:
                phrases.append(exact)
        # The words of a phrase are ranked, too.
        plain = topic(keywords)
    text = fold(plain)[:MAX_TEXT]
    words = _CLITIC.sub(" ", text) if "'" in text or "’" in text else text
    if not words.isascii() and tokens(shorter := UNSPACED_REQUESTS.sub(" ", words)):
        words = shorter
    split = _limited(runs(words, humps=True))
    whole = split if words.islower() else _limited(runs(words, humps=False))
    is_complete = bool(split) and not _UNFINISHED.search(keywords)
    capitals = frozenset[str]() if words.islower() else _capitals(words)
    return ParsedQuery(
        text, split, whole, is_complete, required, phrases, excluded, foreign_letters(plain[:MAX_TEXT]), capitals
    )


def _limited(every: Sequence[Run]) -> Sequence[Run]:
    """Return the first MAX_WORDS words, and the beginnings of long runs of scripts without spaces."""
    return [
        ((parts[0][:MAX_RUN],), joined) if len(parts[0]) > MAX_RUN and is_unspaced(parts[0]) else (parts, joined)
        for parts, joined in every[:MAX_WORDS]
    ]


def _capitals(text: str) -> frozenset[str]:
    """Return the words with capitals, in lower case. The first one of a sentence counts if a later letter is one."""
    every = [*_TOKEN.finditer(text)]
    capital = [match for match in every if match[0].lower() != match[0]]
    if not capital or len(every) < MIN_CAPITALS_OF or len(capital) > MAX_CAPITALS * len(every):
        return frozenset()
    inner = (match for match in capital if match[0][1:].lower() != match[0][1:] or not _starts(text, match.start()))
    return frozenset(match[0].lower() for match in inner)


def _starts(text: str, place: int) -> bool:
    """Return whether the word at a place is the first one of a sentence."""
    return _SENTENCE_START.search(text, max(place - 8, 0), place) is not None
