"""Stop words, and what a search excludes in words: "stock prices but no crypto", "calendar, not Google"."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence

from ..index.collection import Collection
from ..text.analysis import COMMON_PARTS, Word, stem
from ..text.tables import read_table

_BEFORE = (
    ("but", "no"), ("but", "not"), ("and", "not"), ("except",), ("except", "for"), ("excluding",), ("other", "than"),
    ("instead", "of"), ("rather", "than"), ("apart", "from"),
    ("aber", "kein"), ("aber", "keine"), ("aber", "nicht"), ("ausser",), ("sauf",), ("mais", "pas"), ("excepto",),
    ("pero", "no"), ("exceto",), ("mas", "nao"), ("maar", "geen"), ("maar", "niet"), ("behalve",),
    ("але", "не"), ("крім",), ("окрім",), ("но", "не"), ("кроме",), ("ma", "non"), ("tranne",), ("ale", "nie"),
    ("oprocz",),
)  # fmt: skip
"""Words before what is excluded: English; German, French, Spanish, Portuguese; Dutch, Ukrainian, Russian, Italian,
Polish."""

_BEFORE_NAMES = "not"
"""A word that excludes names only: "not working" and "not found" are topics."""

_BOTH = (("only",), ("just",))
"""Words after a negation that excludes nothing: "not only Gmail"."""

_OR = "or"
"""A word between two that are excluded."""

MIN_NAMED = 0.25
"""The share of the entries with a word that have it in their names, from which it may be a name."""


def without_exclusions(query: Sequence[Word], collection: Collection) -> Sequence[Word]:
    """Return the words of a query without those that it excludes, if it has others.

    Entries with such a word are still found: many say that they can do both.
    """
    if not any(word.parts[0] in _STARTS for word in query):
        return query
    kept: list[Word] = []
    place = 0
    while place < len(query):
        end = _excluded(query, place, collection)
        if end == place:
            kept.append(query[place])
            end += 1
        place = end
    has_topic = any(part not in STOP_WORDS for word in kept for part in word.parts)
    return kept if has_topic else query


_STARTS = {words[0] for words in (*_BEFORE, (_BEFORE_NAMES,))}
_LONGEST_FIRST = sorted(_BEFORE, key=len, reverse=True)


def _excluded(query: Sequence[Word], place: int, collection: Collection) -> int:
    """Return the end of the words that exclude something, and of what they exclude, or `place` if there are none."""
    parts = [word.parts[0] if len(word.parts) == 1 else "" for word in query[place : place + 2]]
    before = next((words for words in _LONGEST_FIRST if tuple(parts[: len(words)]) == words), None)
    if before is None and parts[0] != _BEFORE_NAMES:
        return place
    end = place + (len(before) if before else 1)
    if end < len(query) and query[end].parts in _BOTH:
        return place
    while end < len(query) and FUNCTION_WORDS.issuperset(query[end].parts):
        end += 1
    if end == len(query) or not (before or _is_name(query[end], collection)):
        return place
    end += 1
    if end + 1 < len(query) and query[end].parts == (_OR,) and FUNCTION_WORDS.isdisjoint(query[end + 1].parts):
        end += 2
    return end


def _is_name(word: Word, collection: Collection) -> bool:
    terms = [term for part in word.parts if (term := collection.word(part)[0]) is not None]
    return bool(terms) and collection.name_ratio(terms, [1.0] * len(terms)) >= MIN_NAMED


_WORDS = tomllib.loads(read_table("query_words.toml"))

FUNCTION_WORDS = frozenset(word for kind in ("english", "requests", "foreign") for word in _WORDS[kind].split())

STOP_WORDS = COMMON_PARTS | FUNCTION_WORDS
"""Words that are ignored if the query has others."""

UNSEGMENTED_REQUESTS = re.compile(
    # Korean: "show me", "please do", "I want to", "how to", "is there".
    "(?:알려|보여|찾아|가르쳐) ?(?:줘요?|주세요|줄래요?|달라고?|주라)"
    "|(?:(?<=[가-힣])해 ?)?(?:줘요?|주세요|줄래요?)(?![가-힣])"
    "|(?:하고 ?)?싶(?:어요?|다|습니다|은데요?)|하는 ?(?:방법|법)(?![가-힣])|어떻게|부탁(?:해요?|드려요|드립니다)"
    "|(?:있나요|있을까요?|인가요|뭐야|뭔가요|무엇인가요)(?![가-힣])"
    # Chinese: "excuse me", "I want to", "how", "is there", "tell me".
    "|请问|我想要?|想要|给我|怎么样?|如何|怎样|有没有|能不能|可不可以|一下|告诉我"
)
"""Requests in scripts without spaces: folded text that says nothing about servers."""

GENERAL_WORDS = frozenset(_WORDS["general"].split()) - STOP_WORDS
"""Words that weigh less beside others, and are not misspelt.

Entries of servers are short, so that words such as "together" and "appear" are rare in them, and not because they tell
much.
"""

GENERAL_STEMS = frozenset(map(stem, GENERAL_WORDS))
"""Their stems."""
