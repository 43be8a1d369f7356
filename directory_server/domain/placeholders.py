"""Placeholders: entries whose texts say nothing about the server, such as those of a project template."""

from __future__ import annotations

import re

from .entries import Entry
from .vocabulary import read_vocabulary

MAX_TEXT = 2_000
"""Characters of a text that are read. A longer text has content."""

_TEMPLATE_PART = re.compile(
    r"""\[[^\]]{0,200}\]|<[^>]{0,200}>|\{\{[^}]{0,200}\}\}|\b[a-z-]+="[^"]{0,200}"|https?://\S+"""
)
"""Parts of a text that are markup, a link, or to be replaced by the publisher."""

_MADE_WITH = re.compile(r"\bmcp-framework\b|\bclaude desktop\b", re.IGNORECASE)
"""Products that servers are written with or for. Their words alone may be content."""

_WORD = re.compile(r"[^\W\d_]+")

_WORDS = read_vocabulary("placeholders")

_EMPTY_WORDS = frozenset(_WORDS["empty"].split())
"""Words that say nothing about what a server does."""

_PRAISE_WORDS = _EMPTY_WORDS.union(_WORDS["praise"].split())
"""Words of descriptions that are true of every server."""

_KITS = frozenset(_WORDS["kits"].split())
"""Words of servers that people copy to write their own."""

MIN_STARS = 10
"""Stars of an entry that people use, whatever its texts say."""


def is_placeholder(entry: Entry) -> bool:
    """Return whether no text of `entry`, except its names, says what the server does. Tools do, if there are any.

    Praise that is true of every server says nothing, unless the entry has MIN_STARS or is a kit to write servers.
    """
    brief, whole = entry.brief, entry.long_description
    is_cut = bool(whole) and whole.startswith(brief.rstrip("…").rstrip())
    texts = (whole if is_cut else brief, whole, *entry.descriptions.values(), *entry.alternative_descriptions)
    is_used = (entry.stars or 0) >= MIN_STARS
    return not entry.tools and not any(_has_content(text, is_used=is_used) for text in texts)


def _has_content(text: str, *, is_used: bool) -> bool:
    if len(text) > MAX_TEXT:
        return True
    words = frozenset(_WORD.findall(_MADE_WITH.sub(" ", _TEMPLATE_PART.sub(" ", text)).casefold()))
    if words <= _EMPTY_WORDS:
        return False
    # A text that was cut may have content after the cut.
    return is_used or text.endswith("…") or not words <= _PRAISE_WORDS or not words.isdisjoint(_KITS)
