"""The parts of a query in other languages: translated words, and runs of scripts without spaces."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from math import sqrt

from attrs import evolve

from ..index.collection import Collection
from ..index.translated_terms import translated_term
from ..text.analysis import Word, is_unsegmented, stem
from ..text.division import KATAKANA
from ..text.translations import Match
from ..text.transliteration import pinyin
from .exclusions import STOP_WORDS
from .groups import Part, TermGroup, add_terms, group_of, raise_weights
from .parsing import ParsedQuery
from .spelling import COMPLETION_WEIGHT, completions
from .translation import Translation

LEARNT_WEIGHT = 0.5
"""The weight of a translation that was learnt from entries."""

TRANSLATION_WEIGHT, TRANSLATION_DECAY = 0.9, 0.8
"""The weight of the first translation in the lexicon, and of each further one relative to the one before it."""

TRANSLATED_WEIGHT = 0.8
"""The weight of an English word that an entry has in Chinese, Japanese or Korean only, relative to the word itself."""

_ALL_HIRAGANA = re.compile("[ぁ-ん]+")

_PARTICLE = re.compile("[ぁ-ん的了吗呢吧]")
"""Characters of Japanese particles and endings, and Chinese particles: no document is about them."""

COUNTRY_WEIGHT = 0.4
"""The weight of the country of a query's language: people ask for its services, mostly without saying so."""

COUNTRIES = {
    "zh": ("china", "chinese"), "ja": ("japan", "japanese"), "ko": ("korea", "korean"),
    "de": ("germany", "german"), "es": ("spain", "spanish", "mexico"), "fr": ("france", "french"),
    "pt": ("brazil", "brazilian", "portugal"), "it": ("italy", "italian"), "ru": ("russia", "russian"),
    "ar": ("saudi", "arabic"), "hi": ("india", "indian"), "vi": ("vietnam", "vietnamese"),
    "tr": ("turkey", "turkish"), "id": ("indonesia", "indonesian"), "nl": ("netherlands", "dutch"),
    "uk": ("ukraine", "ukrainian"),
}  # fmt: skip
"""The words for the countries with the most speakers of a language among the entries."""


def translated_part(match: Match, collection: Collection) -> Iterator[Part]:
    """Yield the part of a word or expression in another language: its own terms, and those of its translations."""
    own = [word for word in match.words if word not in STOP_WORDS]
    # An English stem is no stem of another language: "résumer" has that of "resume".
    native = _as_one(_groups({word: {word: 1.0} for word in own if collection.find(word) is not None}, collection))
    yield from part_of({*map(stem, own)}, match, native, collection)


def run_parts(query: ParsedQuery, collection: Collection, translation: Translation) -> Iterator[Part]:
    """Yield the parts of the runs of scripts without spaces: each word of the lexicon, and pairs of other letters."""
    in_words: set[str] = set()
    for match in translation.runs:
        tokens = Word((match.words[0],), spaced=False).tokens
        in_words.update(tokens)
        native = [group for token in tokens if (group := _pair(token, collection))]
        yield from part_of({*tokens}, match, native, collection)
    for token in dict.fromkeys(token for word in query.words if not word.spaced for token in _content(word)):
        if token not in in_words and (group := _pair(token, collection)):
            yield Part({token}, group.idf, [group])


def country_groups(translation: Translation, collection: Collection) -> Sequence[TermGroup]:
    """Return the group of the country of the language of a query, if there is one."""
    names = dict.fromkeys(COUNTRIES.get(translation.language, ()), COUNTRY_WEIGHT)
    return _groups({f"country of the language {translation.language}": names}, collection)


def pinyin_groups(query: ParsedQuery, collection: Collection) -> Iterator[TermGroup]:
    """Yield the groups of the pinyin of Chinese words."""
    runs = [word.parts[0] for word in query.words if not word.spaced]
    names = dict.fromkeys(name for run in runs for name in _romanised(run))
    yield from _groups({name: {name: 1.0} for name in names}, collection)


def part_of(stems: set[str], match: Match, native: Sequence[TermGroup], collection: Collection) -> Iterator[Part]:
    """Yield the part of a match, if any document has a term. It weighs as much as its translation."""
    label = f"{' '.join(match.words)} in English"
    words = dict.fromkeys(word for sense in match.senses if len(sense[0]) > 1 for word in sense[0])
    phrases = {f"{label}: {word}": {word: TRANSLATION_WEIGHT} for word in words}
    single = _single_words(match)
    if not is_unsegmented(match.words[0]):
        single |= {translated_term(word): TRANSLATED_WEIGHT * weight for word, weight in single.items()}
    groups = _groups({label: single, **phrases}, collection)
    english = _as_one(groups)
    if match.words[0].isascii():
        native = bounded(native, english)
    if weight := sum(group.idf for group in english or native):
        stems |= {stem(word) for word in match.senses[0][0]}
        is_one = len(english) == 1
        yield Part(stems, weight, [*native, *english], alternatives=is_one, is_general=match.is_general)


def bounded(native: Sequence[TermGroup], english: Sequence[TermGroup]) -> Sequence[TermGroup]:
    """Return the groups of a word in another language, together at most as heavy as its translation.

    Without accents, some words are English words, too ("gửi", send).
    """
    most, total = sum(group.idf for group in english), sum(group.idf for group in native)
    return [evolve(group, idf=group.idf * most / total) for group in native] if 0 < most < total else native


def _content(word: Word) -> Iterator[str]:
    """Yield the pairs of characters of a run, without those of particles and of the endings of verbs."""
    if _ALL_HIRAGANA.fullmatch(word.parts[0]):
        yield from word.tokens
    else:
        yield from (token for token in word.tokens if not _PARTICLE.search(token))


def _as_one(groups: Sequence[TermGroup]) -> Sequence[TermGroup]:
    """Return the groups of words that express one thing together: each of n weighs 1 / sqrt(n)."""
    return [evolve(group, idf=group.idf / sqrt(len(groups))) for group in groups]


def _single_words(match: Match) -> dict[str, float]:
    """Return the translations of one word, with their weights."""
    found: dict[str, float] = {}
    for sense in match.senses:
        for position, expression in enumerate(sense):
            if len(expression) == 1:
                weight = TRANSLATION_WEIGHT * TRANSLATION_DECAY**position
                found[expression[0]] = max(weight, found.get(expression[0], 0.0))
    return found


def _pair(token: str, collection: Collection) -> TermGroup | None:
    """Return the group of a pair of characters and of what it was learnt to mean; for one character, of its pairs."""
    weights: dict[int, float] = {}
    add_terms(weights, collection, {token: 1.0})
    if len(token) == 1:
        raise_weights(weights, dict.fromkeys(completions(token, collection), COMPLETION_WEIGHT))
    if not KATAKANA.fullmatch(token):
        learnt = collection.lexicon.translations(token)
        add_terms(weights, collection, {term: LEARNT_WEIGHT * weight for term, weight in learnt.items()})
    return group_of(token, weights, collection, size=collection.lexicon.size)


def _groups(words: Mapping[str, Mapping[str, float]], collection: Collection) -> Sequence[TermGroup]:
    """Return the group of each of `words`, by label, if any document has one of its terms."""
    found = []
    for label, alternatives in words.items():
        weights: dict[int, float] = {}
        add_terms(weights, collection, alternatives)
        if group := group_of(label, weights, collection):
            found.append(group)
    return found


def _romanised(run: str) -> list[str]:
    """Return the pinyin of each part of 2 to 4 characters of a run, without spaces, as names spell it."""
    syllables = pinyin(run)
    spans = [syllables[i : i + n] for n in (2, 3, 4) for i in range(len(syllables) - n + 1)]
    return ["".join(span) for span in spans if all(span)]
