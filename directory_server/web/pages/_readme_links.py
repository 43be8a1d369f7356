"""Links and headings of README texts: changes of HTML that the sanitizer has written, so its tags are well formed."""

from __future__ import annotations

import re
from collections.abc import Sequence

from markupsafe import Markup

from ._filters import link

MAX_LINKS = 100
"""Addresses of a README that become links. Each adds about 100 characters."""

MAX_HEADINGS = 20
"""Headings in the contents of a README."""

MIN_HEADINGS = 4
"""Headings without which a README has no contents."""

_TAG = re.compile(r"(<[^>]*>)")

_OWN_TEXT = frozenset({"a", "code", "pre", "kbd"})
"""Elements whose text stays as it is."""

_ADDRESS = re.compile(r"\bhttps?://(?:&amp;|[^\s<>\"'&`|])+")

_TRAILING = ".,;:!?)]}*_"

_EMPTY_LINK = re.compile(r"<a\b[^>]*>((?:\s|&nbsp;|\xa0|</?(?!a\b)[a-z0-9]+[^>]*>)*)</a>")
"""A link without a text, such as one around an image that is left out."""

_HEADING = re.compile(r"<h([3-6])>(.*?)</h\1>", re.DOTALL)

_NUMBERED = re.compile(r'<h([34]) id="(readme-[0-9]+)">(.*?)</h\1>', re.DOTALL)


def with_links(html: str) -> str:
    """Return the HTML of a README with a link for each address, without links that have no text, with ids of headings.

    The ids are ours: a publisher could choose one that another part of the page has.
    """
    numbers = iter(range(1, html.count("<h") + 1))
    html = _EMPTY_LINK.sub(r"\1", html)
    html = _HEADING.sub(lambda part: f'<h{part[1]} id="readme-{next(numbers)}">{part[2]}</h{part[1]}>', html)
    parts, depth, left = [], 0, MAX_LINKS
    for part in _TAG.split(html):
        if part.startswith("<"):
            name = re.match(r"</?([a-z0-9]+)", part)
            if name and name[1] in _OWN_TEXT:
                depth += -1 if part.startswith("</") else 1
        elif not depth and left and "://" in part:
            part, count = _ADDRESS.subn(lambda address: _linked(address[0]), part, count=left)
            left -= count
        parts.append(part)
    return "".join(parts)


def contents(html: Markup) -> Sequence[tuple[str, Markup]]:
    """Return the ids and the texts of the upper headings of a README, none if there are few."""
    headings = [
        (heading[2], Markup(text)) for heading in _NUMBERED.finditer(html) if (text := _TAG.sub("", heading[3]).strip())
    ]
    return headings[:MAX_HEADINGS] if len(headings) >= MIN_HEADINGS else []


def _linked(text: str) -> str:
    address = text.rstrip(_TRAILING)
    url = link(Markup(address).unescape())
    if not url:
        return text
    element = Markup('<a href="{}" rel="nofollow noopener noreferrer ugc">{}</a>')
    return element.format(url, Markup(address)) + text[len(address) :]
