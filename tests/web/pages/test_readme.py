"""README texts of entries as safe HTML."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markupsafe import Markup
from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.task import Clock

from directory_server.domain.entries import PUBLISHER
from directory_server.domain.ports.runtime import Offload
from directory_server.web.pages._readme import (
    _TAGS,
    BURST,
    CACHED,
    MAX_HTML,
    MAX_PLAIN,
    MAX_SOURCE,
    SHARE,
    WAITING,
    Readmes,
    TooLarge,
    plain_html,
    readme_html,
)
from directory_server.web.pages._readme_links import MAX_LINKS, contents

from ..conftest import Server, entry
from .conftest import Document, GetPage

HOSTILE = [
    *("<script>alert(1)</script>", "<SCRIPT/SRC=//evil.example/x.js></SCRIPT>", "<img src=x onerror=alert(1)>"),
    *("<svg onload=alert(1)><style>@import '//evil.example'</style></svg>", "<a href='javascript:alert(1)'>x</a>"),
    *("[x](javascript:alert(1))", "[x](JaVaScRiPt&#58;alert(1))", "[x](data:text/html;base64,PHNjcmlwdD4=)"),
    "[x](vbscript:x) [y](file:///etc/passwd) [z](//evil.example) [r](../account/keys)",
    *("[x](https://user:pass@evil.example/)", "![x](https://evil.example/track.png)"),
    "<iframe src=https://evil.example></iframe><form action=/account/delete method=post><button>x</button></form>",
    "<p style='position:fixed;inset:0' class=notice id=content onclick=alert(1)>x</p>",
    "<base href=https://evil.example><meta http-equiv=refresh content='0;url=https://evil.example'>",
    "<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>",
    "<noscript><p title='</noscript><img src=x onerror=alert(1)>'>",
    *("<template><script>alert(1)</script></template>", "</div></section></article></main><h1>fake</h1>"),
    *("`</code><script>alert(1)</script>`", "```\n</pre><script>alert(1)</script>\n```"),
    *("<!--><script>alert(1)</script>-->", "&lt;script&gt;alert(1)&lt;/script&gt;"),
    *("| a |\n|---|\n| <script>alert(1)</script> |", '[x](https://example.org/"onmouseover="alert(1))'),
    "<a href='https://example.org/' target=_blank rel=opener>x</a>",
    "\u202eevil &#x202e;evil &#8238; \x00 \x1b[31m",
]


class Elements(HTMLParser):
    """The elements of HTML, and whether each one is closed."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.found.append((tag, dict(attrs)))
        if tag not in ("br", "hr"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def check(html: str) -> None:
    """Fail unless all elements and attributes are allowed, and all elements closed."""
    elements = Elements(html)
    assert elements.open == []
    for tag, attributes in elements.found:
        assert tag in _TAGS
        if tag == "a":
            assert attributes.pop("rel") == "nofollow noopener noreferrer ugc"
            assert re.match(r"https?://[a-z0-9]", attributes.pop("href", None) or "http://x")
        if re.fullmatch("h[3-6]", tag):
            # The publisher cannot choose an id that another part of the page has.
            assert re.fullmatch("readme-[0-9]+", attributes.pop("id", None) or "")
        assert set(attributes) <= ({"start"} if tag == "ol" else set())
    assert not re.search("[\u202a-\u202e\u2066-\u2069\x00-\x08\x1b]", html)


def html_of(text: str) -> str:
    """Return the HTML of a README, or its plain text."""
    try:
        return readme_html(text)
    except TooLarge:
        return plain_html(text).replace(' class="plain"', "")


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_become_harmless(text: str) -> None:
    for each in (text, f"# x\n\n{text}\n\ny", f"> - {text}", text * 50):
        check(html_of(each))


@settings(max_examples=80, deadline=None)
@given(st.lists(st.sampled_from([*HOSTILE, "\n", "\n\n", "> ", "- ", "`", "*", "[", "](", "<", "&", "|"]), max_size=12))
def test_combinations_become_harmless(parts: list[str]) -> None:
    check(html_of("".join(parts)))


def test_markdown_is_rendered_with_headings_below_those_of_the_page() -> None:
    html = readme_html(
        "# A\n\n## B\n\n###### C\n\n*x* `y` ~~z~~ [l](https://example.org/a)\n\n3. i\n\n| a |\n|---|\n| b |"
    )
    for expected in (
        *('<h3 id="readme-1">A</h3>', '<h4 id="readme-2">B</h4>', '<h6 id="readme-3">C</h6>', "<em>x</em>"),
        *("<code>y</code>", "<s>z</s>"),
        *('<a href="https://example.org/a" rel="nofollow noopener noreferrer ugc">l</a>', '<ol start="3">'),
        "<td>b</td>",
    ):
        assert expected in html
    assert "h1" not in readme_html("<h1>a</h1>")


def test_images_become_their_texts() -> None:
    assert readme_html("![A *badge*](https://evil.example/x.png) text") == "<p>A badge text</p>\n"


def test_hosts_of_links_are_ascii() -> None:
    assert 'href="https://xn--' in readme_html("[x](https://gіthub.example/)")


def test_long_texts_are_cut() -> None:
    assert len(readme_html("word " * MAX_SOURCE)) <= MAX_SOURCE + 20


def test_plain_text_is_escaped_and_bounded() -> None:
    assert plain_html("a <b>\n\n* c\u202e") == '<p class="plain">a &lt;b&gt;\n\n* c</p>'
    assert len(plain_html('"' * MAX_SOURCE)) < 5 * MAX_PLAIN + 100 <= MAX_HTML + 100


def test_an_ordinary_table_is_rendered() -> None:
    html = readme_html("| a | b |\n|---|---|\n" + "| c | d |\n" * 300)
    assert html.count("<td>") == 600


class Rendering:
    """README texts whose renderings the test ends: `texts` are those that have begun."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.cost = 0.0
        self.texts: list[str] = []
        self._threads: list[Deferred[None]] = []
        self._used = 0.0
        self.readmes = Readmes(cast(Offload, self._offload), self.clock.seconds, self._thread_time)

    def html(self, text: str) -> Deferred[Any]:
        return Deferred.fromCoroutine(self.readmes.html(text))

    def end(self) -> None:
        self._threads.pop(0).callback(None)

    async def _offload(self, function: Any) -> Any:
        self.texts.append(function.args[0])
        self._threads.append(Deferred())
        await self._threads[-1]
        return function()

    def _thread_time(self) -> float:
        self._used += self.cost
        return self._used


def html_of_plain(text: str) -> str:
    return f'<p class="plain">{text}</p>'


def test_a_text_is_rendered_once() -> None:
    rendering = Rendering()
    first = rendering.html("*a*")
    rendering.end()
    assert first.result == rendering.html("*a*").result == "<p><em>a</em></p>\n"
    assert rendering.html(" \n").result == ""
    assert rendering.texts == ["*a*"]
    for number in range(CACHED):
        rendering.html(f"{number}")
        rendering.end()
    rendering.html("*a*")
    assert rendering.texts.count("*a*") == 2


def test_one_text_is_rendered_at_a_time_and_few_wait() -> None:
    rendering = Rendering()
    results = [rendering.html(f"*{number}*") for number in range(WAITING + 2)]
    assert rendering.texts == ["*0*"]
    assert [result.called for result in results] == [False] * WAITING + [True] * 2
    assert results[-1].result == html_of_plain(f"*{WAITING + 1}*")
    # A text that is being rendered is not rendered again.
    assert rendering.html("*0*").result == html_of_plain("*0*")
    for _ in range(WAITING):
        rendering.end()
    assert rendering.texts == [f"*{number}*" for number in range(WAITING)]
    assert results[WAITING - 1].result == f"<p><em>{WAITING - 1}</em></p>\n"


def test_rendering_continues_without_its_reader_and_counts() -> None:
    rendering = Rendering()
    rendering.cost = BURST
    first = rendering.html("*a*")
    first.addErrback(lambda failure: failure.trap(CancelledError))
    first.cancel()
    second = rendering.html("*b*")
    assert rendering.texts == ["*a*"]
    rendering.end()
    assert rendering.html("*a*").result == "<p><em>a</em></p>\n"
    rendering.end()
    assert second.called
    assert rendering.html("*c*").result == html_of_plain("*c*")


def test_rendering_takes_a_bounded_share_of_a_core_whatever_the_number_of_texts() -> None:
    rendering = Rendering()
    rendering.cost = 0.1
    # One reader of 300 pages a minute, of more texts than are kept, for ten minutes.
    for number in range(3_000):
        rendering.clock.advance(0.2)
        shown = rendering.html(f"*{number % (CACHED * 5)}*")
        if not shown.called:
            rendering.end()
        assert shown.called
    assert len(rendering.texts) * rendering.cost <= 600 * SHARE + BURST + rendering.cost
    assert len(rendering.texts) * rendering.cost >= 600 * SHARE


def test_the_entry_page_shows_the_readme(get_page: GetPage, server: Server) -> None:
    text = "# Mail\n\nReads **mail**. <script>alert(1)</script> [Docs](https://example.org/docs)"
    published = entry("io.github.example/readme", _meta={PUBLISHER: {"readme": text}})
    server.publish(published, entry("io.github.example/none", _meta={PUBLISHER: {"readme": 7}}))
    response = get_page(f"/servers/{published.mcp_id}")
    page = Document(response)
    assert b'<h3 id="readme-1">Mail</h3>' in response.body
    assert b"<script>" not in response.body
    assert "https://example.org/docs" in page.links
    assert "README" not in Document(get_page(f"/servers/{entry('io.github.example/none').mcp_id}")).text


def test_addresses_become_links_outside_of_code() -> None:
    html = readme_html(
        "See https://a.example/x?a=1&b=2, or (http://b.example).\n\n`https://c.example` javascript:x://y"
    )
    links = re.findall('<a href="([^"]*)"', html)
    assert links == ["https://a.example/x?a=1&amp;b=2", "http://b.example"]
    assert "</a>, or (" in html
    check(html)
    many = readme_html("\n".join(f"https://a.example/{number}" for number in range(200)))
    assert many.count("<a ") == MAX_LINKS


def test_links_without_a_text_are_left_out() -> None:
    assert "<a" not in readme_html(
        "[![](https://a.example/badge.svg)](https://a.example) <a href='https://b.example'><b> </b></a>"
    )


def test_a_readme_with_headings_has_contents() -> None:
    text = "".join(f"# Part *{number}* &amp; more\n\n#### Small\n\nx\n\n" for number in range(5))
    assert list(contents(Markup(readme_html(text)))) == [
        (f"readme-{2 * number + 1}", f"Part {number} &amp; more") for number in range(5)
    ]
    assert list(contents(Markup(readme_html("# One\n\n# Two")))) == []
