"""Names in camelCase: "GitHub" is one word of a query, if documents have it as one."""

from __future__ import annotations

from attrs import evolve

from ..index.collection import Collection
from ..text.analysis import Word
from .parsing import ParsedQuery

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
