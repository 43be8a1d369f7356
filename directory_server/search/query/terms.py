"""The terms that may stand for each word of a query: itself, completions and corrections."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from itertools import pairwise
from math import ceil

from attrs import evolve

from ..index.collection import Collection
from ..index.dictionary import CORRECTABLE_LENGTHS
from ..index.translated_terms import translated_term
from ..text.analysis import stem
from ..text.word_vectors import word_vectors
from .exclusions import FUNCTION_WORDS, GENERAL_WORDS, STOP_WORDS
from .foreign import TRANSLATED_WEIGHT, part_of, translated_part
from .groups import Part, TermGroup, group_of, raise_weights
from .parsing import ParsedQuery
from .spelling import COMPLETION_WEIGHT, MAX_FREQUENCY, Compound, completions, corrections, split
from .translation import Translation

MIN_KNOWN, DOCUMENTS_FOR_EACH = 4, 5_000
"""Documents with a word, below which it may be a misspelling, and those of a collection for each of them: in a small
collection most words of one document are spelt rightly."""

PREFIX_RATIO = 10
"""The last word is taken as a prefix if this many times as many documents have its completions as have the word."""

EXTRA_COMPLETION_WEIGHT = 0.35
"""The weight of a completion of the last word where that is a known word."""

MAX_CORRECTIONS = 4
"""Words of one query that are corrected."""

MIN_FRAGMENT, FRAGMENT_SHARE = 5, 0.6
"""Letters of the shortest beginning or end of an unknown word that stands for it, and their least share of the word."""

MIN_COGNATE = 8
"""Letters of a word of another language that may be an English one with another ending ("hexagrama")."""

MAX_SPLITS = 4
"""Rare words of one query that may be compounds of two others."""

REMEMBERED = 4_096
"""Parts of words that are kept while the collection is searched: queries share most words."""

FEW_REMEMBERED = 512
"""Parts of last words that are cached. One has up to 256 completions: at most about 8 MB, mostly 2."""

GERMAN = "de"
"""A language whose nouns have capitals."""

MIN_FOREIGN = 3
"""Words of a query that is taken for another language, and not corrected, if more than half of them are unknown."""

MAX_MISSPELT, MIN_LIKE = 8, 0.4
"""Words of the longest query whose unknown words may all be misspelt, and the least weight of a correction of each."""

JOINED_WEIGHT = 0.7
"""The weight of two adjacent words written as one."""

JOINED_SHARE = 0.8
"""The weight of two words written as one for each of the two, as a share of that of the word itself."""


def min_known(collection: Collection) -> int:
    """Return the number of documents with a word of a collection, below which it may be a misspelling."""
    return min(MIN_KNOWN, 1 + collection.size // DOCUMENTS_FOR_EACH)


def fragment_groups(query: ParsedQuery, collection: Collection) -> list[TermGroup]:
    """Return the groups of known words that the words of `query` contain, for when nothing else matches.

    Each is the longest beginning or end of a word ("synologynas"), and those that begin with a character of a script
    without spaces. A word that only resembles others is no reason for a hit.
    """
    parts = dict.fromkeys(part for word in query.words if word.spaced for part in word.parts)
    characters = dict.fromkeys(character for word in query.words if not word.spaced for character in word.parts[0])
    found = [group_of(part, _fragment(part, collection), collection) for part in [*parts][:MAX_CORRECTIONS]]
    found += [
        group_of(character, dict.fromkeys(completions(character, collection), COMPLETION_WEIGHT), collection)
        for character in characters
    ]
    return [group for group in found if group is not None]


def _fragment(word: str, collection: Collection) -> Mapping[int, float]:
    if len(word) not in CORRECTABLE_LENGTHS:
        return {}
    for length in range(len(word) - 1, max(MIN_FRAGMENT, ceil(FRAGMENT_SHARE * len(word))) - 1, -1):
        for piece in (word[:length], word[-length:]):
            term, frequency = collection.word(piece)
            if term is not None and frequency:
                return {term: length / len(word)}
    return {}


def word_parts(query: ParsedQuery, collection: Collection, known: Set[str], translation: Translation) -> Iterator[Part]:
    """Yield the parts of `query` in scripts with spaces: each different word, or expression in another language.

    A word has two groups if documents also write it as two words; both have the same idf. Words with a stem in `known`
    and translated words are not corrected.
    """
    parts, ignored = query.parts, translation.ignored
    content_words: Sequence[str] = [part for part in parts if part not in STOP_WORDS and part not in ignored]
    if not content_words and query.is_spaced:
        content_words = parts
    last = parts[-1] if parts and query.words[-1].spaced and not query.is_complete else None
    is_told = bool(translation.language)
    corrected = 0 if is_told or not _is_foreign(content_words, collection) else MAX_CORRECTIONS
    splits, named = MAX_SPLITS, 0
    matches = {part: match for match in translation.words for part in match.words}
    # Without a known language, a word may be a misspelt name all the same.
    doubtful = {part: match for part, match in matches.items() if not translation.language and len(match.words) == 1}
    certain = [matches[part] for part in content_words if part in matches and part not in doubtful]
    for match in {id(match): match for match in certain}.values():
        yield from translated_part(match, collection)
    untranslated = [part for part in content_words if part not in matches or part in doubtful]
    plain, plain_last = collection.cached(_plain_part, REMEMBERED), collection.cached(_plain_last_part, FEW_REMEMBERED)
    for term, part in {stem(part): part for part in untranslated}.items():
        if part not in doubtful and (found := plain_last(part) if part == last else plain(part)):
            yield found
            continue
        weights, frequency, may_be_misspelt = _word_terms(part, collection, unfinished=part == last)
        compound = split(part, collection, frequency) if splits else None
        splits -= frequency < MAX_FREQUENCY
        is_corrected = False
        # A name in another language may have an ending ("na Slacku").
        is_name = part in query.capitals and translation.language != GERMAN
        may_be_corrected = corrected < MAX_CORRECTIONS or (is_name and named < MAX_CORRECTIONS)
        may_be_misspelt = may_be_misspelt and (not is_told or is_name or len(part) >= MIN_COGNATE)
        # Halves that few documents have together may be so by chance: "hubs" and "pt" of "hubspt".
        is_compound = compound is not None and compound.frequency >= min_known(collection)
        if not is_compound and may_be_misspelt and may_be_corrected and term not in known:
            corrected, named = corrected + 1, named + is_name
            is_corrected = not weights
            corrected_to = corrections(part, collection, frequency)
            raise_weights(weights, corrected_to)
            compound = None if corrected_to else compound
        groups = _with_compound(_word_groups(part, weights, collection), compound, frequency, collection)
        if part in doubtful:
            yield from part_of({term}, doubtful[part], groups, collection)
        elif groups:
            yield Part({term}, groups[0].idf, groups, alternatives=True, is_corrected=is_corrected)


def _plain_part(collection: Collection, word: str, *, unfinished: bool = False) -> Part | None:
    """Return the part of a word that many documents have, so that it is no misspelling and no compound; else None."""
    if collection.word(word)[1] < MAX_FREQUENCY:
        return None
    weights, _, _ = _word_terms(word, collection, unfinished=unfinished)
    groups = _word_groups(word, weights, collection)
    return Part({stem(word)}, groups[0].idf, groups, alternatives=True) if groups else None


def _plain_last_part(collection: Collection, word: str) -> Part | None:
    """Return such a part of an unfinished word."""
    return _plain_part(collection, word, unfinished=True)


def _word_groups(word: str, weights: Mapping[int, float], collection: Collection) -> list[TermGroup]:
    """Return the groups of a word and of the other terms that may stand for it.

    A known word is as rare as it is: "bus" is not as common as "business", and "semver" not as "server", though these
    may be meant. Its translation in entries of other scripts is as rare as the word.
    """
    own, frequency = collection.word(word)
    others = {term: weight for term, weight in weights.items() if term != own}
    are_minor = frequency >= min_known(collection) and max(others.values(), default=0.0) <= EXTRA_COMPLETION_WEIGHT
    if own is None or not frequency or are_minor:
        found = [group_of(word, weights, collection)]
    else:
        found = [group_of(word, {own: 1.0}, collection), group_of(f"{word}…", others, collection)]
    groups = [group for group in found if group is not None]
    term = collection.find(translated_term(word))
    if term is not None and (frequency := collection.document_frequency(term)):
        idf = groups[0].idf if groups else collection.idf(frequency)
        groups.append(TermGroup(f"{word}, translated", {term: TRANSLATED_WEIGHT}, idf))
    return groups


def _with_compound(
    groups: list[TermGroup], compound: Compound | None, frequency: int, collection: Collection
) -> list[TermGroup]:
    """Return the groups of a word and of the compound that it is."""
    if compound is None:
        return groups
    idf = collection.idf(frequency + compound.frequency)
    halves = TermGroup(compound.label, dict.fromkeys(compound.terms, 1.0), idf, match_all=True)
    return [*(evolve(group, idf=idf) for group in groups), halves]


def _is_foreign(parts: Sequence[str], collection: Collection) -> bool:
    """Return whether most of `parts` are too rare to be words of the language of the collection.

    Words that resemble known ones count as these, misspelt. All of them are looked for in short queries only, since
    each takes up to a millisecond.
    """
    distinct = {stem(part): part for part in parts}
    if len(distinct) < MIN_FOREIGN:
        return False
    unknown = [part for part in distinct.values() if collection.word(part)[1] < min_known(collection)]
    if len(distinct) <= MAX_MISSPELT:
        unknown = [part for part in unknown if not _resembles_known(part, collection)]
    return 2 * len(unknown) > len(distinct)


def _resembles_known(word: str, collection: Collection) -> bool:
    if not word.isascii() or len(word) <= CORRECTABLE_LENGTHS.start:
        return False
    likely = [term for term, weight in corrections(word, collection, 0).items() if weight >= MIN_LIKE]
    return any(count >= min_known(collection) for count in collection.document_frequencies(likely)) if likely else False


def _word_terms(part: str, collection: Collection, *, unfinished: bool) -> tuple[dict[int, float], int, bool]:
    """Return the terms of a word and its completions, its document frequency, and whether it may be misspelt."""
    own, frequency = collection.word(part)
    weights: dict[int, float] = {own: 1.0} if own is not None and frequency else {}
    longer = completions(part, collection) if unfinished and len(part) > 1 else {}
    prefixed = sum(longer.values()) if longer else 0
    if frequency < min_known(collection) or prefixed > PREFIX_RATIO * frequency:
        most = max(longer.values(), default=1)
        raise_weights(weights, {term: COMPLETION_WEIGHT * (0.7 + 0.3 * count / most) for term, count in longer.items()})
    elif longer and len(part) > CORRECTABLE_LENGTHS.start:
        raise_weights(weights, dict.fromkeys(longer, EXTRA_COMPLETION_WEIGHT))
    is_rare = frequency < min_known(collection) and prefixed < min_known(collection) and part not in GENERAL_WORDS
    may_be_misspelt = is_rare and len(part) > CORRECTABLE_LENGTHS.start and part.isascii()
    # A word that documents and the table have is a word, however few documents have it.
    is_word = may_be_misspelt and frequency > 0 and word_vectors().knows([stem(part)])
    return weights, frequency, may_be_misspelt and not is_word


def joined_groups(query: ParsedQuery, collection: Collection) -> Iterator[TermGroup]:
    """Yield the groups of neighbours that are written as one word."""
    # Most pairs are new, so these look-ups are not cached.
    find = collection.vocabulary.find
    for pair in pairwise(query.parts):
        term = find(stem("".join(pair))) if FUNCTION_WORDS.isdisjoint(pair) else None
        if term is not None and (group := group_of(" ".join(pair), {term: JOINED_WEIGHT}, collection)):
            yield group


def with_joined(parts: list[Part], joined: Sequence[TermGroup]) -> list[Part]:
    """Return `parts` with the words written as one (`joined`) as alternatives of both words, which they cover."""
    for group in joined:
        stems = {*map(stem, group.label.split())}
        places = [place for place, part in enumerate(parts) if part.alternatives and part.stems <= stems]
        if len(places) == len(stems):
            terms = dict.fromkeys(group.terms, 1.0)
            for place in places:
                part = parts[place]
                whole = evolve(group, terms=terms, idf=JOINED_SHARE * part.weight)
                parts[place] = evolve(part, groups=[*part.groups, whole])
    return parts
