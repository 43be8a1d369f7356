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

_MADE_WITH = re.compile(r"\bmcp-framework\b|\bclaude desktop\b", re.IGNORECASE)
"""Products that servers are written with or for. Their words alone may be content."""

_WORD = re.compile(r"[^\W\d_]+")

_WORDS = """
a about add an and any are as at be been but by can could do does don etc for from get has have here hi how i
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


_PRAISE = """
ability access actions adapt advanced agent agents ai allow allowing allows api apis applications apps assistant
assistants augment better between bridge bridges bring capabilities claude communicate communication compatible complex
comprehensive concepts configurable configuration configurations connect connected connecting connections connects
customizable customize data demonstrates demonstrating deploy deployment design designed developed developer
developers developing development different directly diverse dynamic dynamically each ease easily easy effective
effectively efficient efficiently effortless effortlessly elevate empower empowering enable enabled enables enabling
enhance enhanced enhances enhancing ensure ensures ensuring environment environments execution experience explore expose
exposes exposing extend extended extensible extensibility extension external facilitate facilitates facilitating
familiarize features featuring fetch flexible flexibility focused full fully functionalities functionality functions
help helps host implement implementation implementations implementing improve including innovative instructions
integrate integrated integrates integrating integration integrations intelligence intelligent interact interacting
interaction interactions interactive interface interfaces intuitive language large learn learning leverage leverages
leveraging like llm llms local make makes making models modular more multiple natural need needs new other platform
platforms power powerful programmatically prompts purpose purposes quickly real reliable resource resources responses
retrieve rich robust run scalable seamless seamlessly secure securely service services setup showcase showcases
showcasing simplified simplifies simplify single smooth software solution solutions source sources specific standard
standardized streamline streamlined streamlines streamlining structure structured support supporting supports system
systems tailored technologies technology through tool tools transform understand understanding unified unlock user users
utilize utilizes various versatile wide within without workflow workflows
"""

_PRAISE_WORDS = _EMPTY_WORDS.union(_PRAISE.split())
"""Words of descriptions that are true of every server."""

_KITS = frozenset(
    [
        "boilerplate",
        "example",
        "examples",
        "framework",
        "sample",
        "scaffold",
        "skeleton",
        "starter",
        "template",
        "templates",
    ]
)
"""Words of servers that people copy to write their own."""

MIN_STARS = 10
"""Stars of an entry that people use, whatever its texts say."""


def is_placeholder(entry: Entry) -> bool:
    """Return whether no text of `entry`, except its names, says what the server does. Tools do, if there are any.

    Praise that is true of every server says nothing, unless the entry has MIN_STARS or is a kit to write servers.
    """
    alternatives = entry.publisher.get("alternativeDescriptions")
    others = alternatives if isinstance(alternatives, list) else []
    brief, whole = entry.brief, entry.long_description
    is_cut = bool(whole) and whole.startswith(brief.rstrip("…").rstrip())
    texts = (whole if is_cut else brief, whole, *entry.descriptions.values(), *others)
    is_used = (entry.stars or 0) >= MIN_STARS
    return not entry.tools and not any(_has_content(text, is_used=is_used) for text in texts if isinstance(text, str))


def _has_content(text: str, *, is_used: bool) -> bool:
    if len(text) > MAX_TEXT:
        return True
    words = frozenset(_WORD.findall(_MADE_WITH.sub(" ", _TEMPLATE_PART.sub(" ", text)).casefold()))
    if words <= _EMPTY_WORDS:
        return False
    # A text that was cut may have content after the cut.
    return is_used or text.endswith("…") or not words <= _PRAISE_WORDS or not words.isdisjoint(_KITS)
