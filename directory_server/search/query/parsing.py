"""Query parsing: words, also names in camelCase, phrases, exclusions and filters."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence, Set

from attrs import evolve, field, frozen

from ...domain.filters import PIECE, filter_values
from ..index.collection import Collection
from ..index.document import phrase
from ..index.facets import facet
from ..text.analysis import MAX_TOKEN, Word, fold, stem, tokens, words
from ..text.word_forms import with_accents
from .exclusions import UNSEGMENTED_REQUESTS

MAX_TOKENS = 32
"""Tokens of one query. Later tokens are ignored."""

MAX_TEXT = 512
"""Characters of a folded query; the rest is cut. Folding may expand a character (U+FDFA to 18)."""

MAX_PHRASES = 3
"""Exact phrases of one query. The words of further phrases are searched as single words."""

MIN_SENTENCE = 8
"""Words beside the quoted ones, from which a query is a sentence. It quotes names and speech, and no exact phrases."""

_CLITIC = re.compile(r"(?<=\w)['’]s\b|\b(?:[cdjlmnst]|qu)['’](?=\w)", re.IGNORECASE)
"""The English possessive, and elided articles and pronouns of French and Italian."""


_ONLY_LOWER = re.compile(r"[a-z0-9 ]*")
"""Keywords of words that have one part each, as most are: without symbols, accents and capitals."""

_TOKEN = re.compile(r"[^\W_]+")

_SENTENCE_START = re.compile(r"(?:^|[.!?:]\s)\W*$")
"""The text before the first word of a sentence."""

MAX_CAPITALS = 0.6
"""The share of the words of a query that have capitals, above which these tell nothing."""

MIN_CAPITALS_OF = 3
"""Words of a query in which capitals tell names."""

_UNFINISHED_SYMBOL = re.compile(r"[^\W_](?:\#|\+\+)$")
"""The end of a query whose last word has a symbol: names may continue it."""


@frozen
class ParsedQuery:
    """A parsed query.

    `words` are ranked. An entry must have one term of each of `required`, all `phrases` (folded text), and none of
    `excluded` (terms). `is_complete` is true if the last word is finished, false if it may be a prefix. `text` is the
    folded text. `names` has the words in camelCase as they are written, and names such as ".NET" as they are spelt, by
    their parts. `accented` is the text with accents. `capitals` are the words with capitals, in lower case, if few
    words have some. `parts` are those of the words in scripts with spaces. `is_spaced` is true if there are no other
    words.
    """

    words: Sequence[Word]
    is_complete: bool
    required: Sequence[Sequence[str]] = ()
    phrases: Sequence[str] = ()
    excluded: Sequence[str] = ()
    text: str = field(default="", repr=False)
    names: Mapping[Word, Word] = field(factory=dict)
    accented: str = field(default="", repr=False)
    capitals: Set[str] = frozenset()
    parts: Sequence[str] = field(init=False, repr=False)
    is_spaced: bool = field(init=False, repr=False)

    @parts.default
    def _parts_of_words(self) -> Sequence[str]:
        return [part for word in self.words if word.spaced for part in word.parts]

    @is_spaced.default
    def _has_spaced_words_only(self) -> bool:
        return all(word.spaced for word in self.words)

    @property
    def has_filters(self) -> bool:
        """Return whether the query has filters, phrases or exclusions."""
        return bool(self.required or self.phrases or self.excluded)


def topic(keywords: str) -> str:
    """Return `keywords` without filters and exclusions, as they are written."""
    return PIECE.sub(lambda piece: f" {piece['phrase'] or ''} ", keywords).strip()


def parse(keywords: str) -> ParsedQuery:
    """Return the parsed query. Nothing is a syntax error: all that is not a filter is words."""
    if _ONLY_LOWER.fullmatch(keywords):
        text = keywords[:MAX_TEXT]
        every = [Word((run[:MAX_TOKEN],)) for run in text.split()[:MAX_TOKENS]]
        return ParsedQuery(every, bool(every) and text[-1] == " ", [], [], [], text, {}, text)
    required: list[Sequence[str]] = []
    phrases: list[str] = []
    is_sentence = len(PIECE.sub(" ", keywords).split()) >= MIN_SENTENCE
    excluded: list[str] = []
    for piece in PIECE.finditer(keywords):
        if piece["excluded"]:
            excluded += [stem(token) for token in tokens(piece["excluded"])[:1]]
        elif piece["filter"]:
            name = piece["filter"].lower()
            required.append(tuple(facet(name, value) for value in filter_values(name, piece["value"])))
        elif not is_sentence and (exact := phrase(piece["phrase"])) and len(phrases) < MAX_PHRASES:
            phrases.append(exact)
    # The words of a phrase are ranked, too.
    text = fold(PIECE.sub(lambda piece: f" {piece['phrase'] or ''} ", keywords))[:MAX_TEXT]
    accented = with_accents(keywords[:MAX_TEXT])
    return _parsed(text, _without_requests(_CLITIC.sub(" ", text)), accented, required, phrases, excluded)


def _parsed(
    text: str,
    plain: str,
    accented: str,
    required: Sequence[Sequence[str]],
    phrases: Sequence[str],
    excluded: Sequence[str],
) -> ParsedQuery:
    """Return the query of a folded text, which is `plain` without elisions and requests."""
    every = words(plain, humps=True)
    found = _limit(every)
    # A separator of name parts at the end leaves the word unfinished.
    is_complete = bool(found) and not (text[-1:].isalnum() or (text[-1:] in "-_./" and text[-2:-1].isalnum()))
    is_complete = is_complete and not _UNFINISHED_SYMBOL.search(text)
    # Most queries have no word of several parts.
    names: dict[Word, Word] = {}
    if any(len(word.parts) > 1 or word.whole for word in every):
        pairs = zip(every, words(plain, humps=False), strict=True)
        names = {split: Word((whole.whole,)) if whole.whole else whole for split, whole in pairs}
        names = {split: whole for split, whole in names.items() if split != whole}
    return ParsedQuery(found, is_complete, required, phrases, excluded, text, names, accented, _capitals(text))


def _capitals(text: str) -> Set[str]:
    """Return the words with capitals, in lower case. The first one of a sentence counts if a later letter is one."""
    every = [*_TOKEN.finditer(text)]
    found = [match for match in every if not match[0].islower() and match[0].lower() != match[0]]
    if not found or len(every) < MIN_CAPITALS_OF or len(found) > MAX_CAPITALS * len(every):
        return frozenset()
    inner = (match for match in found if match[0][1:].lower() != match[0][1:] or not _starts(text, match.start()))
    return frozenset(match[0].lower() for match in inner)


def _starts(text: str, place: int) -> bool:
    """Return whether the word at a place is the first one of a sentence."""
    return _SENTENCE_START.search(text, max(place - 8, 0), place) is not None


def _without_requests(text: str) -> str:
    """Return `text` without the requests of scripts without spaces, unless it has nothing else."""
    if text.isascii():
        return text
    shorter = UNSEGMENTED_REQUESTS.sub(" ", text)
    return shorter if tokens(shorter) else text


def _limit(every: Sequence[Word]) -> list[Word]:
    """Return the words of the first MAX_TOKENS tokens; the last word may be cut."""
    found: list[Word] = []
    left = MAX_TOKENS
    for word in every:
        if left <= 0:
            break
        cut = word.parts[:left] if word.spaced else (word.parts[0][: left + 1],)
        found.append(evolve(word, parts=cut))
        left -= len(found[-1].tokens)
    return found


MIN_KNOWN = 4
"""Documents with a word, from which it is known."""


def with_whole_names(query: ParsedQuery, collection: Collection) -> ParsedQuery:
    """Return `query` with its words in camelCase as they are written, where documents have them so.

    Texts have "TypeScript" as one word, only names have its parts, too. The halves are other words.
    """
    known = {split: whole for split, whole in query.names.items() if _is_known(whole, split, collection)}
    return evolve(query, words=[known.get(word, word) for word in query.words], names=known) if known else query


def _is_known(word: Word, split: Word, collection: Collection) -> bool:
    rarest = min(collection.word(part)[1] for part in word.parts)
    # "PagBank" has a half that is no word of its own, and the parts of "KSeF" are single letters.
    has_no_halves = any(len(part) == 1 or collection.word(part)[1] < rarest for part in split.parts)
    return rarest >= (1 if has_no_halves else MIN_KNOWN)
