"""The parts of a query in other languages: translated words, and runs of scripts without spaces."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ..index.collection import Collection
from ..text.analysis import Word, stem
from ..text.pinyin import pinyin
from ..text.translations import KATAKANA, Match
from .groups import Part, TermGroup, add_terms, group_of, raise_weights
from .parsing import ParsedQuery
from .spelling import COMPLETION_WEIGHT, completions
from .stop_words import STOP_WORDS
from .translation import Translation

LEARNT_WEIGHT = 0.5
"""The weight of a translation that was learnt from entries."""

TRANSLATION_WEIGHT, TRANSLATION_DECAY = 0.9, 0.8
"""The weight of the first translation in the lexicon, and of each further one relative to the one before it."""


def translated_part(match: Match, collection: Collection) -> Iterator[Part]:
    """Yield the part of a word or expression in another language: its own terms, and those of its translations."""
    own = [word for word in match.words if word not in STOP_WORDS]
    label = f"{' '.join(match.words)} in English"
    english = _single_words(match)
    if len(own) == 1:
        alternatives = _groups({label: {own[0]: 1.0, **english}}, collection)
        native: Sequence[TermGroup] = []
    else:
        alternatives = _groups({label: english}, collection)
        native = _groups({word: {word: 1.0} for word in own}, collection)
    phrase = _phrase(match, collection)
    yield from _part({*map(stem, own)}, match, native, alternatives, phrase)


def run_parts(query: ParsedQuery, collection: Collection, translation: Translation) -> Iterator[Part]:
    """Yield the parts of the runs of scripts without spaces: each word of the lexicon, and pairs of other letters."""
    in_words: set[str] = set()
    for match in translation.runs:
        tokens = Word((match.words[0],), spaced=False).tokens
        in_words.update(tokens)
        native = [group for token in tokens if (group := _pair(token, collection))]
        alternatives = _groups({f"{match.words[0]} in English": _single_words(match)}, collection)
        yield from _part({*tokens}, match, native, alternatives, _phrase(match, collection))
    for token in dict.fromkeys(token for word in query.words if not word.spaced for token in word.tokens):
        if token not in in_words and (group := _pair(token, collection)):
            yield Part({token}, group.idf, [group])


def pinyin_groups(query: ParsedQuery, collection: Collection) -> Iterator[TermGroup]:
    """Yield the groups of the pinyin of Chinese words."""
    runs = [word.parts[0] for word in query.words if not word.spaced]
    names = dict.fromkeys(name for run in runs for name in _romanised(run))
    yield from _groups({name: {name: 1.0} for name in names}, collection)


def _part(
    stems: set[str],
    match: Match,
    native: Sequence[TermGroup],
    alternatives: Sequence[TermGroup],
    phrase: Sequence[TermGroup],
) -> Iterator[Part]:
    """Yield the part of a match, if it has groups. It weighs as much as its translation."""
    weight = sum(group.idf for group in phrase or alternatives or native)
    if weight:
        stems |= {stem(word) for word in match.senses[0][0]}
        yield Part(stems, weight, [*native, *alternatives, *phrase])


def _single_words(match: Match) -> Mapping[str, float]:
    """Return the translations of one word, with their weights."""
    found: dict[str, float] = {}
    for sense in match.senses:
        for position, expression in enumerate(sense):
            if len(expression) == 1:
                weight = TRANSLATION_WEIGHT * TRANSLATION_DECAY**position
                found[expression[0]] = max(weight, found.get(expression[0], 0.0))
    return found


def _phrase(match: Match, collection: Collection) -> Sequence[TermGroup]:
    """Return a group for each word of the translations of several words that are the first of a sense."""
    words = dict.fromkeys(word for sense in match.senses if len(sense[0]) > 1 for word in sense[0])
    label = " ".join(match.words)
    return _groups(
        {f"{label}: {word}": {word: TRANSLATION_WEIGHT} for word in words if word not in STOP_WORDS}, collection
    )


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
