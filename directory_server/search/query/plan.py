"""Query planning: the words, concepts, names and conditions of a query become a plan."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from ...domain.search import Likeness
from ..index.document import BARE_NAME, EXACT_NAME, FULL_NAME, VENDOR_PRODUCT
from ..index.view import View
from ..tables.conditions import find_conditions
from ..tables.languages import language_of_script
from ..tables.lexicon import likely_language
from ..tables.stop_words import ENGLISH, FUNCTION_WORDS, GENERAL_STEMS, GENERAL_WORDS
from ..tables.word_vectors import query_vector, word_vectors
from ..text import COMMON_PARTS, is_unspaced, key, stem
from .concepts import add_concepts
from .names import exact_names, name_rows, vendor_rows
from .parsing import ParsedQuery
from .rows import BESIDE, GENERAL, LIGHT, MIN_KNOWN, NAMED, Plan, Word
from .wishes import find_wishes
from .words import WordRows

_GENERAL_WEIGHTS = dict.fromkeys(GENERAL_STEMS, GENERAL)


def build_plan(
    parsed: ParsedQuery,
    view: View,
    likeness: Likeness | None = None,
    beside: Sequence[str] = (),
    searched_for: str = "",
) -> Plan:
    """Return the plan of `parsed` for the documents of `view`.

    `beside` are words of the long text that the query is from, and `searched_for` what is searched of it.
    """
    plan = Plan(parsed, likeness=likeness, searched_for=searched_for)
    words: Sequence[str] = _chosen_words(parsed, view)
    if not words:
        return plan
    full, bare = key(parsed.runs), key(parsed.runs, COMMON_PARTS)
    literal = parsed.text.casefold().strip()
    spaced = [word for word in words if not is_unspaced(word)]
    # One look-up of all strings that are known to be needed.
    names = {FULL_NAME: full, BARE_NAME: bare, EXACT_NAME: literal, VENDOR_PRODUCT: bare}
    view.frequencies(
        [
            *(kind + name for kind, name in names.items()),
            stem(full),
            *map(stem, spaced),
            *(stem(one + other) for one, other in pairwise(spaced)),
        ]
    )
    plan.exact = exact_names(names, view)
    if not plan.is_name:
        request = find_conditions(words)
        wishes = find_wishes(request.words, view)
        words, plan.conditions, plan.avoided = wishes.words, request.conditions, wishes.avoided
        spaced = [word for word in words if not is_unspaced(word)]
        light = request.light | wishes.models
    else:
        light = frozenset()
    # Latin letters beside a script without spaces are names.
    is_mixed = len(spaced) < len(words) and not parsed.letters
    if plan.is_name:
        # A name asks for its entry, not for what is like it.
        plan.likeness = None
    plan.language = "" if is_mixed else _language(spaced, parsed.letters)
    rows = WordRows(view, plan, spaced)
    rows.add(words)
    _weigh(plan, light)
    plan.words += _words_beside(beside, view)
    plan.weight = max(sum(word.value for word in plan.words if not word.is_beside), 1.0)
    plan.names = name_rows(plan, full, bare, literal, view)
    if not plan.is_name:
        plan.names += vendor_rows(plan, view)
        add_concepts(plan, words, view)
        plan.vector = _vector(plan, words)
    return plan


def _chosen_words(parsed: ParsedQuery, view: View) -> list[str]:
    """Return the words of a query, names in camelCase whole where documents have them so.

    Texts have "TypeScript" as one word, only names have its parts, too. The halves are other words.
    """
    words: list[str] = []
    for (parts, joined), (as_written, _) in zip(parsed.runs, parsed.whole, strict=True):
        if parts != as_written:
            of_parts = view.frequencies([*map(stem, parts)])
            of_whole = min(view.frequencies([*map(stem, as_written)]))
            has_no_halves = min(of_parts) < of_whole or any(len(part) == 1 for part in parts)
            words += as_written if of_whole >= (1 if has_no_halves else MIN_KNOWN) else parts
        elif joined.startswith("dot") and len(parts) == 1:
            words.append(joined)
        else:
            words += parts
    return words


def _language(words: Sequence[str], letters: frozenset[str]) -> str:
    """Return the language of the words of a query, an empty string for English and for unknown ones."""
    for word in words:
        if script := language_of_script(word):
            return script
    return likely_language(words, letters, ENGLISH)


def _weigh(plan: Plan, light: frozenset[str]) -> None:
    """Lower the weights of words on any topic and of those that may state a condition; raise those with capitals."""
    general = [word.text in GENERAL_WORDS for word in plan.words]
    for word, is_general in zip(plan.words, general, strict=True):
        if is_general and not all(general):
            word.weight *= GENERAL
        elif word.text in plan.parsed.capitals and not plan.language:
            word.weight *= NAMED
        if word.text in light and len(plan.words) > 1:
            word.weight *= LIGHT


def _words_beside(beside: Sequence[str], view: View) -> Iterator[Word]:
    """Yield the words of the text around a request."""
    terms = [*map(stem, beside)]
    for text, term, frequency in zip(beside, terms, view.frequencies(terms), strict=True):
        idf = view.idf(frequency)
        rows = [(term, term, 1.0, idf)] if frequency else []
        yield Word(text, idf, rows, weight=BESIDE, counts_rarity=False, is_beside=True)


def _vector(plan: Plan, words: Sequence[str]) -> bytes | None:
    """Return the vector of the words of a query, those of English for words that the table lacks."""
    runs = [((word,), "") for word in words if word not in FUNCTION_WORDS and word not in COMMON_PARTS]
    if plan.language:
        translated = {word.text: word.english[0] for word in plan.words if word.english}
        unknown = [word for word in translated if not word_vectors().knows([stem(word)])]
        runs = [run for run in runs if run[0][0] not in unknown]
        runs += [((part,), "") for word in unknown for part in translated[word].split() if part not in ENGLISH]
    return query_vector(runs, _GENERAL_WEIGHTS)
