"""The domain lexicon: words of other languages, and the English words that servers use for the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from itertools import chain

from attrs import field, frozen
from rapidfuzz.distance import JaroWinkler

from .dictionary import LONGEST, Dictionary
from .division import KATAKANA, MAX_KNOWN, divide, is_alone, may_end
from .transliteration import NAMES, SingleWords, romanised, sound_key
from .word_forms import (
    COMPOUND_LANGUAGES,
    LATIN,
    cached_forms,
    compound_parts,
    forms_of,
    language_of_script,
    languages_of_letters,
    lone_parts,
    nearest_form,
    turkish_bases,
)

MIN_UNTOLD = 4
"""Letters of the shortest word that is translated where the language is not known."""

Alternatives = Sequence[Sequence[str]]
"""English expressions for one sense, the most common first, each of one word or more."""


@frozen
class Match:
    """Words of a query (or a piece of a run without spaces) and the English expressions for each of their senses.

    `is_general` is true if only the dictionary has them.
    """

    words: Sequence[str]
    senses: Sequence[Alternatives]
    is_general: bool = False


@frozen
class Translations:
    """The lexicon: the numbers of the senses of each word, by language, and the senses themselves.

    Words are folded. Those of several words are joined by spaces. `stems` has the words and their stems, `starts` the
    first words of expressions of several words, `longest` the number of words of the longest expression of a language.
    `runs` has the words of languages without spaces. `sounds` has English words by the key of their sound.
    `homographs` has the accented words that are equal when folded, with their senses.
    `ordered` has the single words of MIN_COMMON letters or more of each language in order. `dictionary` has words that
    the table of senses lacks, and further English words for those that it has.
    """

    senses: Sequence[Alternatives]
    stems: Mapping[str, Mapping[str, Sequence[int]]]
    starts: Mapping[str, Set[str]]
    longest: Mapping[str, int]
    runs: Mapping[str, Sequence[int]]
    longest_run: int
    function_words: Mapping[str, Set[str]]
    english: Set[str]
    sounds: Mapping[str, Sequence[str]]
    homographs: Mapping[str, Mapping[str, Mapping[str, Sequence[int]]]]
    ordered: Mapping[str, Sequence[str]]
    dictionary: Dictionary
    _single: SingleWords = field(init=False, repr=False, eq=False)

    @_single.default
    def _single_words(self) -> SingleWords:
        return SingleWords(self.stems, self.starts, self.function_words, self.english)

    def likely_language(self, parts: Sequence[str], accented: str = "") -> str:
        """Return the language of the words of a query, or an empty string for English and for unknown languages.

        The letters of the `accented` query count as two words of a language if no other has them, else as one if no
        word is English.
        """
        latin = [part for part in parts if not language_of_script(part)]
        others = [part for part in latin if not self._single.is_english(part)]
        english = len(latin) - len(others)
        if english > 2 * len(others):
            return ""
        candidates = {language for part in others for language in self._single.languages(part)}
        lettered = languages_of_letters(accented)
        if len(lettered) == 1:
            candidates.update(lettered)
        counts = {language: self._coverage(latin, language) for language in sorted(candidates)}
        for language in candidates.intersection(lettered):
            only, shared, exact = counts[language]
            counts[language] = only + (2 if len(lettered) == 1 else not english), shared, exact
        best = max(counts, key=lambda language: (sum(counts[language][:2]), counts[language][2]), default="")
        only, shared, _ = counts[best] if best else (0, 0, 0)
        is_complete = len(latin) > 1 and only + shared >= len(latin)
        told = only + shared if only > max(english - shared, 0 if is_complete else 1) else 0
        other = self._language_by_dictionary(others, lettered, told) if 2 * len(others) >= len(latin) else ""
        return other or (best if told else "")

    def _language_by_dictionary(self, words: Sequence[str], lettered: Sequence[str], told: int) -> str:
        """Return the only language that has at least half of `words`, and more of them than `told`; else nothing.

        A language that has one word only must have a function word. The letters of the query allow some languages.
        """
        others = self.dictionary.without_english(words)
        if len(others) < 2:
            return ""
        forms = {
            (language, form): (language, word)
            for language in lettered or LATIN
            for word in others
            for form in cached_forms(language, word)
        }
        known = {word for word, is_known in zip(forms.values(), self.dictionary.has([*forms]), strict=True) if is_known}
        known |= {(language, word) for language, word in forms.values() if self._is_told(language, word)}
        counts = Counter(language for language, _ in known)
        (best, count), (_, second) = [*counts.most_common(2), ("", 0), ("", 0)][:2]
        is_sure = count > 1 or any(self._is_function_word(word, best) for word in others)
        return best if is_sure and count > max(second, told) and 2 * count >= len(others) else ""

    def _is_told(self, language: str, word: str) -> bool:
        return self._is_function_word(word, language) or bool(self._single.senses(language, word))

    def _coverage(self, parts: Sequence[str], language: str) -> tuple[int, int, int]:
        """Return how many of `parts` are words of a language and not of English, and how many are words of both.

        The last number is greater for longer expressions, and for words that are not inflected.
        """
        only = shared = exact = place = 0
        while place < len(parts):
            size, _ = self._longest_at(parts, place, language)
            exact += size * size + (" ".join(parts[place : place + size]) in self.stems[language])
            if size > 1:
                only += size
            elif size or self._is_function_word(parts[place], language):
                is_shared = self._single.is_english(parts[place])
                only, shared = only + (not is_shared), shared + is_shared
            place += size or 1
        return only, shared, exact

    def _longest_at(self, parts: Sequence[str], place: int, language: str) -> tuple[int, Sequence[int]]:
        """Return the number of words of the longest expression of a language at a place, and its senses."""
        if len(parts) - place > 1 and not self.starts[language].isdisjoint(cached_forms(language, parts[place])):
            for size in range(min(self.longest[language], len(parts) - place), 1, -1):
                if found := self._find(language, parts[place : place + size]):
                    return size, found
        found = self._single.senses(language, parts[place])
        return (1, found) if found else (0, ())

    def are_plain(self, parts: Sequence[str], is_known: Callable[[str], bool]) -> bool:
        """Return whether a query of these words, without accents, is of no language and none of them is translated."""
        single = self._single
        return all(
            single.is_plain(part) and (is_known(part) or len(part) < MIN_UNTOLD or single.is_english(part))
            for part in parts
        )

    def ignored(self, parts: Sequence[str], language: str) -> Set[str]:
        """Return the function words among `parts`, most of which are in `language`."""
        none: Set[str] = frozenset()
        return {part for part in parts if part in self.function_words.get(language_of_script(part) or language, none)}

    def spaced(
        self, parts: Sequence[str], language: str, is_known: Callable[[str], bool], accented: str = ""
    ) -> Iterator[Match]:
        """Yield the translations of the words of a query, the longest expressions first at each place.

        Words of `language` are translated. Others are only if they are not `is_known`.
        """
        place = 0
        while place < len(parts):
            match = self._match_at(parts, place, language, is_known, accented)
            if match:
                yield match
            place += len(match.words) if match else 1

    def _match_at(
        self, parts: Sequence[str], place: int, language: str, is_known: Callable[[str], bool], accented: str
    ) -> Match | None:
        part = parts[place]
        script = language_of_script(part)
        for candidate in (script,) if script else (language, NAMES) if language else (NAMES,):
            size, found = self._longest_at(parts, place, candidate)
            if size > 1 or (size and not self._is_function_word(part, candidate)):
                piece = parts[place : place + size]
                english = self._in_dictionary(candidate, piece)
                return self._result(piece, self._as_written(candidate, " ".join(piece), accented) or found, english)
        known = script or language
        if known and not self._is_function_word(part, known):
            english = self._in_dictionary(known, [part])
            if english or (found := self._inflected(known, part)):
                return self._result([part], () if english else found, english)
        if script:
            return None if self._is_function_word(part, script) else self._sounding(part)
        is_short = not language and len(part) < MIN_UNTOLD
        if is_short or self._single.is_english(part) or self._is_function_word(part, language) or is_known(part):
            return None
        found = self._single.senses_in_any(part)
        return self._result([part], found) if found else self._compound(part, language)

    def _in_dictionary(self, language: str, piece: Sequence[str]) -> Sequence[str]:
        return self.dictionary.find(language, cached_forms(language, piece[0])) if len(piece) == 1 else ()

    def in_run(self, run: str) -> list[Match]:
        """Return the translations of the words in the likeliest division of a run of a script without spaces."""
        known = self.dictionary.words_in(run)

        def cost(piece: str, place: int) -> float | None:
            word = known.get(piece)
            if piece in self.runs and (len(piece) > 1 or is_alone(run, place)):
                return min(word.rarity, MAX_KNOWN) if word else MAX_KNOWN
            return word.rarity if word and may_end(run, place + len(piece)) else None

        found: list[Match] = []
        for start, end in divide(run, max(self.longest_run, LONGEST), cost):
            piece = run[start:end]
            word = known.get(piece)
            if word or piece in self.runs:
                found.append(self._result([piece], self.runs.get(piece, ()), word.english if word else ()))
            elif match := self._sounding(piece):
                found.append(match)
        return found

    def _sounding(self, word: str) -> Match | None:
        """Return the English words that sound like a loanword of another script."""
        latin = romanised(word)
        sound = sound_key(latin)
        is_katakana = KATAKANA.match(word) is not None
        if len(sound) < (MIN_SOUNDS if is_katakana else MIN_SOUNDS + 1):
            return None
        near = {other: JaroWinkler.similarity(latin, other) for other in self.sounds.get(sound, ())}
        best = max(near, key=lambda other: near[other], default="")
        return Match([word], [[[best]]]) if best and near[best] >= MIN_ALIKE[is_katakana] else None

    def _compound(self, word: str, language: str) -> Match | None:
        """Return the translation of a German or Dutch compound: that of its two parts, as one expression.

        In a query of that language, the translation of the longest part that the lexicon has is enough.
        """
        is_told = language in COMPOUND_LANGUAGES
        for candidate in (language,) if is_told else COMPOUND_LANGUAGES:
            for last, firsts in compound_parts(word):
                # Pieces of words rarely repeat: they would fill the cache of forms.
                senses = next(filter(None, map(self.stems[candidate].get, forms_of(candidate, last))), ())
                for sense in senses and chain.from_iterable(self._find(candidate, [first]) for first in firsts):
                    return Match([word], [[[*self.senses[sense][0], *self.senses[senses[0]][0]]]])
        known = self.stems[language] if is_told else {}
        found = next(filter(None, map(known.get, lone_parts(word) if is_told else ())), ())
        return self._result([word], found) if found else None

    def _find(self, language: str, piece: Sequence[str]) -> Sequence[int]:
        known = self.stems[language]
        for forms in zip(*(cached_forms(language, word) for word in piece), strict=True):
            if senses := known.get(" ".join(forms)):
                return senses
        return ()

    def _as_written(self, language: str, folded: str, accented: str) -> Sequence[int]:
        """Return the senses of the words that are `folded` without accents, and in the `accented` query."""
        homographs = self.homographs.get(language, {}).get(folded, {})
        written = [senses for word, senses in homographs.items() if word in accented]
        return [*dict.fromkeys(chain.from_iterable(written))]

    def _inflected(self, language: str, word: str) -> Sequence[int]:
        """Return the senses of the word of a language that differs least from `word`, in its ending only."""
        known = self.stems[language]
        bases = turkish_bases(word) if language == "tr" else ()
        if base := next((base for base in bases if base in known), ""):
            return known[base]
        best = nearest_form(word, self.ordered[language])
        return known[best] if best else ()

    def _is_function_word(self, part: str, *languages: str) -> bool:
        return any(part in self.function_words.get(language, ()) for language in languages)

    def _result(self, piece: Sequence[str], senses: Sequence[int], english: Sequence[str] = ()) -> Match:
        """Return the match of a piece, with a further sense for the `english` of the dictionary that is new."""
        found = [self.senses[number] for number in senses]
        known = {word for sense in found for expression in sense for word in expression}
        others = [words for words in map(str.split, english) if known.isdisjoint(words)]
        return Match(piece, [*found, others] if others else found, is_general=not found)


MIN_SOUNDS = 3
"""Letters of the shortest key of a loanword of katakana. Other scripts have native words, too, and need one more."""

MIN_ALIKE = {True: 0.5, False: 0.7}
"""The least similarity (Jaro-Winkler) of a loanword in Latin letters and the English word; less for katakana."""
