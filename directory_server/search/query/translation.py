"""Translation of a query to English words of the lexicon (see `text.translations`), and direction of conversions."""

from __future__ import annotations

from collections.abc import Sequence, Set

from attrs import frozen

from ..index.collection import Collection
from ..index.dictionary import CORRECTABLE_LENGTHS
from ..index.translated_terms import conversion_term
from ..text.analysis import Word
from ..text.conversions import conversions
from ..text.thesaurus import Match as ConceptMatch
from ..text.thesaurus import singular
from ..text.translations import Match, Translations
from ..text.word_forms import UKRAINIAN, is_ukrainian, language_of_runs, language_of_script
from .groups import TermGroup
from .parsing import ParsedQuery
from .spelling import corrections

MIN_ENGLISH = 4
"""Documents with a word, from which it is taken for an English word or a name, unless the query is in a language."""

MIN_SENTENCE, ENGLISH = 5, 0.6
"""Words of a query in no known language, and the share of such words among them, from which it is an English one."""

MIN_NEAR, MIN_NAMED, NAMED = 0.5, 9, 0.6
"""A single word is a misspelt name, and not a foreign form, if a correction has this weight, more documents than this,
and this share of a name."""


@frozen
class Translation:
    """The matches of the lexicon in the words of a query, and in its runs of scripts without spaces.

    `ignored` are function words of its `language`, which is empty for English and for unknown languages.
    """

    words: Sequence[Match]
    runs: Sequence[Match]
    ignored: Set[str]
    language: str

    @property
    def matches(self) -> Sequence[Match]:
        """Return all matches."""
        return [*self.words, *self.runs]

    def unexpanded(self, concepts: Sequence[ConceptMatch]) -> Sequence[Word]:
        """Return the first English words for each match, except those whose own words match one of `concepts`."""
        stems = {stem for concept in concepts for stem in concept.stems}
        pieces = {piece for concept in concepts for piece in concept.pieces}
        words = [match for match in self.words if stems.isdisjoint(map(singular, match.words))]
        runs = [match for match in self.runs if not any(_overlap(match.words[0], piece) for piece in pieces)]
        return [word for match in (*words, *runs) for word in english_words(match)]


def english_words(match: Match) -> Sequence[Word]:
    """Return the words of the first English expression for a match."""
    return [Word((part,)) for part in match.senses[0][0]]


NOTHING = Translation((), (), frozenset(), "")
"""The translation of most queries."""


def _overlap(one: str, other: str) -> bool:
    return one in other or other in one


def translate(query: ParsedQuery, lexicon: Translations, collection: Collection) -> Translation:
    """Return the translation of `query`."""
    parts = query.parts

    def is_known(part: str) -> bool:
        return collection.word(part)[1] >= MIN_ENGLISH

    if query.is_spaced and query.accented.isascii() and lexicon.are_plain(parts, is_known):
        return NOTHING
    # Names are no words of a language.
    names = {part for whole in query.names.values() for part in whole.parts}
    language = lexicon.likely_language([part for part in parts if part not in names], query.accented)

    def is_misspelt(part: str) -> bool:
        # A single word does not identify a language: "binanse" is nearer to "binance" than to a Turkish form of "bina".
        if (
            any(part in forms for forms in lexicon.stems.values())
            or not part.isascii()
            or len(part) not in CORRECTABLE_LENGTHS
        ):
            return False
        found = [term for term, weight in corrections(part, collection, MIN_NAMED).items() if weight >= MIN_NEAR]
        return collection.name_ratio(found, [1.0] * len(found)) >= NAMED

    of_script = UKRAINIAN if is_ukrainian(parts) else next(filter(None, map(language_of_script, parts)), language)
    runs = dict.fromkeys(word.parts[0] for word in query.words if not word.spaced)
    spaced = [*lexicon.spaced(parts, language, is_known, query.accented)]
    is_english = not of_script and len(parts) >= MIN_SENTENCE and sum(map(is_known, parts)) >= ENGLISH * len(parts)
    if is_english or (len(parts) == 1 and spaced and is_misspelt(parts[0])):
        spaced = []
    return Translation(
        spaced,
        [match for run in runs for match in lexicon.in_run(run)],
        lexicon.ignored(parts, language),
        language_of_runs(runs) or of_script,
    )


MAX_PLAIN = 8
"""Words of a query that states a conversion without a verb of conversion. In a longer one, "to" has other meanings."""

SHARE = 1.0
"""The score of an entry that states the conversion, as a share of the query weight."""


def conversion_groups(query: ParsedQuery, collection: Collection, query_weight: float) -> Sequence[TermGroup]:
    """Return the group of the conversions of `query` that entries state, if there are any."""
    pairs = sorted(conversions(query.text, is_name=len(query.words) <= MAX_PLAIN))
    if not pairs:
        return []
    found = {number: pair for pair in pairs if (number := collection.find(conversion_term(*pair))) is not None}
    terms = {number: 1.0 for number in found if collection.document_frequency(number)}
    label = ", ".join(" to ".join(found[number]) for number in terms)
    return [TermGroup(label, terms, SHARE * query_weight)] if terms else []
