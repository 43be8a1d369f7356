"""Keywords of searches: their limits and their schema."""

from __future__ import annotations

from ..domain.errors import BadInput
from ..domain.filters import check_filters, filters_of

MAX_KEYWORDS = 4_096
"""Characters of the `keywords` of a search. Some agents send a whole request."""

MAX_WORDS = 256
"""Characters of keywords all of which an entry must have, and of a search of the registry API."""

MAX_FILTERS = 128
"""Characters of the filters in keywords of more than MAX_WORDS characters. All filters are searched for."""

LONG_TEXT = "Long texts are reduced to the sentence that asks for a server."
ASK_BETTER = "Ask in one sentence, with the name of the product."
"""What is done with long keywords, and what to send in their place."""

_MUCH_TEXT, _MANY_SENTENCES = MAX_KEYWORDS - 96, 200
"""Characters of keywords that are likely cut from a longer text, and sentences of them that are compared."""

_ENDS = ".!?;…。！？；।؟\n"
"""The ends of sentences."""

_FORMS = (
    'Filters may be between the words: "exact phrase", -word, tag:NAME, transport:stdio|http|sse, '
    "package:npm|pypi|oci, official:true, auth:none|key|oauth, runs:local|remote, language:NAME, license:mit, "
    "status:works."
)
KEYWORDS = {
    "minLength": 1,
    "maxLength": MAX_KEYWORDS,
    # At least one character that is not white space.
    "pattern": r"\S",
    "description": (
        "Search words in any language: a name or part of one, a product, a category, a task. Of more than "
        f"{MAX_WORDS} characters, the filters and the sentence that asks for a server are searched for, with rare "
        f"words beside it. {_FORMS}"
    ),
    "examples": ["postgres", "read gmail", "browser automation"],
}
"""JSON Schema keywords of the keywords of a search."""


def checked_keywords(text: str, longest: int = MAX_KEYWORDS) -> str:
    """Return `text` if it is allowed as keywords of at most `longest` characters. Raises BadInput."""
    if not text.strip():
        raise BadInput(f"keywords: is required, 1 to {longest:,} characters.")
    if len(text) > longest:
        advice = f" {ASK_BETTER}" if longest == MAX_KEYWORDS else ""
        raise BadInput(f"keywords: must have at most {longest:,} characters, not {len(text):,}.{advice}")
    if ":" in text:
        check_filters(text)
        if len(text) > MAX_WORDS and sum(piece.end - piece.start for piece in filters_of(text)) > MAX_FILTERS:
            raise BadInput(
                f"keywords: filters must have at most {MAX_FILTERS} characters together if the keywords have more "
                f"than {MAX_WORDS}."
            )
    return text


def is_read_in_part(keywords: str) -> bool:
    """Return whether `keywords` have more text than a search reads, or are likely the beginning of such a text."""
    return len(keywords) > _MUCH_TEXT or (
        len(keywords) > MAX_WORDS and sum(map(keywords.count, _ENDS)) > _MANY_SENTENCES
    )
