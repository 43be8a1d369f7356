"""README texts of entries as safe HTML."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from hashlib import sha256

import nh3
from attrs import define, field
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict
from markupsafe import Markup

from ...domain.ports.runtime import Offload
from ...sanitize import clean, clean_text
from ._filters import link

MAX_SOURCE = 20_000
"""Characters of a README that are rendered."""

MAX_HTML = 40_000
"""Characters of the HTML. A longer one, of a hostile text, is not shown."""

CACHED = 200
"""README texts whose HTML is kept, so that popular entries are rendered once: at most 8 million characters."""

_TAGS = {
    *(
        "a",
        "b",
        "blockquote",
        "br",
        "code",
        "dd",
        "del",
        "details",
        "dl",
        "dt",
        "em",
        "h3",
        "h4",
        "h5",
        "h6",
        "hr",
        "i",
    ),
    *("kbd", "li", "ol", "p", "pre", "s", "strong", "sub", "summary", "sup", "table", "tbody", "td", "th", "thead"),
    *("tr", "ul"),
}
"""Elements that a README may have. Of others the text stays, except for scripts and styles."""

_SHIFT = 2
"""Levels that headings move down: the page has an h1, and its section an h2."""


class _Renderer(RendererHTML):
    """A renderer that shows the text of an image in its place: images of other hosts would see who reads the page."""

    def image(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        return self.renderInlineAsText(tokens[idx].children or [], options, env)


_MARKDOWN = MarkdownIt("commonmark", renderer_cls=_Renderer).enable(["table", "strikethrough"])


def readme_html(text: str) -> str:
    """Return a README as HTML without images, scripts, styles and ids; an empty text if it is too large.

    Links lead to http and https URLs only. It takes milliseconds, and must not run in the reactor's thread.
    """
    tokens = _MARKDOWN.parse(clean_text(text, MAX_SOURCE))
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(6, int(token.tag[1:]) + _SHIFT)}"
    html = _MARKDOWN.renderer.render(tokens, _MARKDOWN.options, {})
    if len(html) > 2 * MAX_HTML:
        return ""
    safe = nh3.clean(
        html,
        tags=_TAGS,
        attributes={"a": {"href"}, "ol": {"start"}},
        attribute_filter=_attribute,
        link_rel="nofollow noopener noreferrer ugc",
        url_schemes={"http", "https"},
    )
    # Character references may stand for invisible characters.
    return clean(safe) if len(safe) <= MAX_HTML else ""


def _attribute(tag: str, name: str, value: str) -> str | None:
    if name == "href":
        return link(value) or None
    if name == "start":
        return value if value.isdecimal() and len(value) < 6 else None
    # The only other attribute is the `rel` that the sanitizer has set.
    return value


@define(eq=False)
class Readmes:
    """Renders README texts in a thread, and keeps the last CACHED ones."""

    _offload: Offload
    _rendered: OrderedDict[bytes, Markup] = field(factory=OrderedDict, init=False)

    async def html(self, text: str) -> Markup:
        """Return the HTML of a README, empty if there is none or it is too large."""
        if not text.strip():
            return Markup("")
        key = sha256(text.encode("utf-8", "replace")).digest()
        found = self._rendered.get(key)
        if found is None:
            found = self._rendered[key] = Markup(await self._offload(readme_html, text))
            while len(self._rendered) > CACHED:
                self._rendered.popitem(last=False)
        else:
            self._rendered.move_to_end(key)
        return found
