"""README texts of entries as safe HTML."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from hashlib import sha256

import nh3
from attrs import define, field
from markdown_it import MarkdownIt
from markdown_it.parser_inline import ParserInline
from markdown_it.renderer import RendererHTML
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict
from markupsafe import Markup, escape

from ...domain.ports.runtime import Offload
from ...runtime.threads import Limited, detached
from ...texts.sanitize import clean, clean_text
from ._filters import link
from ._readme_links import with_links

MAX_SOURCE = 20_000
"""Characters of a README that are rendered."""

MAX_HTML = 40_000
"""Characters of the HTML, twice as many before it is cleaned."""

MAX_PLAIN = 8_000
"""Characters of a README that is shown as plain text: at most MAX_HTML with character references."""

MAX_TOKENS = 5_000
"""Tokens of Markdown. A cell of a table has three. The longest of 313 real README texts has 1,716."""

MAX_STEPS = 50_000
"""Characters that are parsed, and tokens that the parser skips in search of the ends of links.

A text of brackets needs 40 steps for each character.
"""

MAX_COPIES = 50_000
"""Elements that unclosed formatting elements add to the HTML: each may be repeated in each element after it."""

CACHED = 200
"""README texts whose HTML is kept, so that popular entries are rendered once: at most 8 million characters."""

WAITING = 8
"""README texts that wait for the thread. Further ones are shown as plain text."""

SHARE = 0.1
"""The part of a core that rendering takes in the long run. Above it, README texts are shown as plain text."""

BURST = 2.0
"""Seconds of processor time that rendering may take at once after a pause."""

_TAGS = {
    *("a", "b", "blockquote", "br", "code", "dd", "del", "details", "dl", "dt", "em", "h3", "h4", "h5", "h6"),
    *("hr", "i", "kbd", "li", "ol", "p", "pre", "s", "strong", "sub", "summary", "sup", "table", "tbody", "td"),
    *("th", "thead", "tr", "ul"),
}
"""Elements that a README may have. Of others the text stays, except for scripts and styles."""

_SHIFT = 2
"""Levels that headings move down: the page has an h1, and its section an h2."""


_FORMATTING = re.compile(r"<(?:a|b|big|code|em|font|i|nobr|s|small|strike|strong|tt|u)[\s/>]", re.IGNORECASE)
"""Elements that a parser of HTML opens again in the next block if they are not closed (HTML, section 13.2.4.3)."""


class TooLarge(Exception):
    """Rendering a README needs more tokens, steps, elements or HTML than allowed."""


class _Tokens(list[Token]):
    """Tokens that are counted in `env`, with those of the whole document. Raises TooLarge."""

    def __init__(self, env: EnvType) -> None:
        super().__init__()
        self._env = env

    def append(self, token: Token) -> None:
        _spend(self._env, "tokens", 1, MAX_TOKENS)
        super().append(token)


class _InlineParser(ParserInline):
    """A parser of inline Markdown that bounds its tokens, its look-ahead and what it reads again."""

    def skipToken(self, state: StateInline) -> None:
        _spend(state.env, "steps", 1, MAX_STEPS)
        super().skipToken(state)

    def parse(self, src: str, md: MarkdownIt, env: EnvType, tokens: list[Token]) -> list[Token]:
        # The text of an image is parsed again for each image around it.
        _spend(env, "steps", len(src), MAX_STEPS)
        tokens += super().parse(src, md, env, _Tokens(env))
        return tokens


def _spend(env: EnvType, kind: str, amount: int, limit: int) -> None:
    env[kind] = env.get(kind, 0) + amount
    if env[kind] > limit:
        raise TooLarge


class _Renderer(RendererHTML):
    """A renderer that bounds its HTML while it grows, and shows the text of an image in its place.

    Images of other hosts would see who reads the page.
    """

    def render(self, tokens: Sequence[Token], options: OptionsDict, env: EnvType) -> str:
        """Return the HTML of block tokens. Raises TooLarge."""
        parts, length = [], 0
        for index, token in enumerate(tokens):
            if token.type == "inline":
                part = self.renderInline(token.children or [], options, env)
            elif rule := self.rules.get(token.type):
                part = rule(tokens, index, options, env)
            else:
                part = self.renderToken(tokens, index, options, env)
            length += len(part)
            if length > 2 * MAX_HTML:
                raise TooLarge
            parts.append(part)
        return "".join(parts)

    def image(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        return self.renderInlineAsText(tokens[idx].children or [], options, env)


def _markdown() -> MarkdownIt:
    markdown = MarkdownIt("commonmark", renderer_cls=_Renderer)
    markdown.inline = _InlineParser()
    return markdown.configure("commonmark").enable(["table", "strikethrough"])


_MARKDOWN = _markdown()


def readme_html(text: str) -> str:
    """Return a README as HTML without images, scripts, styles and ids of its own.

    Links lead to http and https URLs only. Raises TooLarge. It takes milliseconds, and must not run in the reactor's
    thread.
    """
    state = StateCore(clean_text(text, MAX_SOURCE), _MARKDOWN, {})
    state.tokens = _Tokens(state.env)
    _MARKDOWN.core.process(state)
    for token in state.tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(6, int(token.tag[1:]) + _SHIFT)}"
    html = _MARKDOWN.renderer.render(state.tokens, _MARKDOWN.options, {})
    if _formatting_tags(state.tokens) * html.count("<") > MAX_COPIES:
        raise TooLarge
    safe = nh3.clean(
        html,
        tags=_TAGS,
        attributes={"a": {"href"}, "ol": {"start"}},
        attribute_filter=_attribute,
        link_rel="nofollow noopener noreferrer ugc",
        url_schemes={"http", "https"},
    )
    if len(safe) > MAX_HTML:
        raise TooLarge
    # Character references may stand for invisible characters.
    return with_links(clean(safe))


def _formatting_tags(tokens: Iterable[Token]) -> int:
    """Return the number of start tags of formatting elements in the HTML that the text contains."""
    return sum(
        len(_FORMATTING.findall(token.content))
        if token.type.startswith("html_")
        else _formatting_tags(token.children or ())
        for token in tokens
    )


def plain_html(text: str) -> Markup:
    """Return a README as plain text in HTML, cut to MAX_PLAIN characters."""
    return Markup('<p class="plain">{}</p>').format(escape(clean_text(text, MAX_PLAIN)))


def _attribute(tag: str, name: str, value: str) -> str | None:
    if name == "href":
        return link(value) or None
    if name == "start":
        return value if value.isdecimal() and len(value) < 6 else None
    # The only other attribute is the `rel` that the sanitizer has set.
    return value


def _one_at_a_time(offload: Offload) -> Offload:
    return Limited(offload, 1)


@define(eq=False)
class Readmes:
    """Renders README texts in a thread, one at a time, and keeps the last CACHED ones.

    A README is plain text if it is too large, if WAITING others wait, or if
    rendering took more than SHARE of a core: readers of more entries than the cache holds cannot occupy a core.
    `clock` is monotonic, `thread_time` the processor time of the calling thread, both in seconds.
    """

    _offload: Offload = field(converter=_one_at_a_time)
    _clock: Callable[[], float]
    _thread_time: Callable[[], float]
    _rendered: OrderedDict[bytes, Markup] = field(factory=OrderedDict, init=False)
    _pending: set[bytes] = field(factory=set, init=False)
    _left: float = field(default=BURST, init=False)
    _left_at: float = field(default=0.0, init=False)

    async def html(self, text: str) -> Markup:
        """Return the HTML of a README, empty if there is none."""
        if not text.strip():
            return Markup("")
        key = sha256(text.encode("utf-8", "replace")).digest()
        if key in self._rendered:
            self._rendered.move_to_end(key)
            return self._rendered[key]
        if key in self._pending or len(self._pending) >= WAITING or not self._may_render():
            return plain_html(text)
        self._pending.add(key)
        # A reader who leaves does not end the thread. What it used counts, and its HTML is kept.
        return await detached(self._render(key, text))

    async def _render(self, key: bytes, text: str) -> Markup:
        try:
            html, seconds = await self._offload(self._timed, text)
        finally:
            self._pending.remove(key)
        self._left -= seconds
        self._rendered[key] = html
        while len(self._rendered) > CACHED:
            self._rendered.popitem(last=False)
        return html

    def _may_render(self) -> bool:
        now = self._clock()
        self._left = min(BURST, self._left + (now - self._left_at) * SHARE)
        self._left_at = now
        return self._left > 0

    def _timed(self, text: str) -> tuple[Markup, float]:
        """Return the HTML of a README, or its plain text if it is too large, and the seconds of processor time."""
        begin = self._thread_time()
        try:
            html = Markup(readme_html(text))
        except TooLarge:
            html = plain_html(text)
        return html, self._thread_time() - begin
