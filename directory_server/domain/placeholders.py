"""Placeholders: entries whose texts say nothing about the server, such as those of a project template."""

from __future__ import annotations

import re

from .entries import Entry

MAX_TEXT = 2_000
"""Characters of a text that are read. A longer text has content."""

_TEMPLATE_PART = re.compile(
    r"""\[[^\]]{0,200}\]|<[^>]{0,200}>|\{\{[^}]{0,200}\}\}|\b[a-z-]+="[^"]{0,200}"|https?://\S+"""
)
"""Parts of a text that are markup, a link, or to be replaced by the publisher."""

_WORD = re.compile(r"[^\W\d_]+")

_WORDS = """
a about add an and any are as at be been but by can could do does don etc for from get go goes has have here hi how i
in into is it its just let lets me my new no non not now of on one or our out own replace so some still t that the
then there these this to todo up use used using very was we what when which will with work works yet you your alpha
app application basic beta blank boilerplate bootstrapped build built building code coming connector created custom
default demo demonstration describe described description development draft dummy empty example examples experiment
experimental fastmcp first foo foobar bar functional generated getting hello ipsum lorem mcp mcps minimal mock model
context protocol modelcontextprotocol na name nan none nothing null only placeholder playground poc practice progress
project proof concept provide provided provides providing python node nodejs js javascript typescript ts quick
quickstart ready readme repo repository run running sample scaffold sdk server servers simple skeleton soon start
started starter stuff summary tbd template templates test tester testing tests thing tmp tutorial undefined unknown
untitled version wip world www xxx yo abc asdf qwerty 测试 テスト 테스트
"""

_EMPTY_WORDS = frozenset(_WORDS.split())
"""Words that say nothing about what a server does."""


def is_placeholder(entry: Entry) -> bool:
    """Return whether no text of `entry`, except its names, says what the server does. Tools do, if there are any."""
    alternatives = entry.publisher.get("alternativeDescriptions")
    others = alternatives if isinstance(alternatives, list) else []
    texts = (entry.brief, entry.long_description, *entry.descriptions.values(), *others)
    return not entry.tools and not any(_has_content(text) for text in texts if isinstance(text, str))


def _has_content(text: str) -> bool:
    if len(text) > MAX_TEXT:
        return True
    words = _WORD.findall(_TEMPLATE_PART.sub(" ", text).casefold())
    return not _EMPTY_WORDS.issuperset(words)
