"""README texts of entries as safe HTML."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from directory_server.domain.entries import PUBLISHER
from directory_server.domain.ports.runtime import Offload
from directory_server.web.pages._readme import _TAGS, CACHED, MAX_HTML, MAX_SOURCE, Readmes, readme_html

from ...contract import awaited
from ..conftest import Server, entry
from .conftest import Document, GetPage

HOSTILE = [
    "<script>alert(1)</script>",
    "<SCRIPT/SRC=//evil.example/x.js></SCRIPT>",
    "<img src=x onerror=alert(1)>",
    "<svg onload=alert(1)><style>@import '//evil.example'</style></svg>",
    "<a href='javascript:alert(1)'>x</a>",
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt&#58;alert(1))",
    "[x](data:text/html;base64,PHNjcmlwdD4=)",
    "[x](vbscript:x) [y](file:///etc/passwd) [z](//evil.example) [r](../account/keys)",
    "[x](https://user:pass@evil.example/)",
    "![x](https://evil.example/track.png)",
    "<iframe src=https://evil.example></iframe><form action=/account/delete method=post><button>x</button></form>",
    "<p style='position:fixed;inset:0' class=notice id=content onclick=alert(1)>x</p>",
    "<base href=https://evil.example><meta http-equiv=refresh content='0;url=https://evil.example'>",
    "<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>",
    "<noscript><p title='</noscript><img src=x onerror=alert(1)>'>",
    "<template><script>alert(1)</script></template>",
    "</div></section></article></main><h1>fake</h1>",
    "`</code><script>alert(1)</script>`",
    "```\n</pre><script>alert(1)</script>\n```",
    "<!--><script>alert(1)</script>-->",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "| a |\n|---|\n| <script>alert(1)</script> |",
    '[x](https://example.org/"onmouseover="alert(1))',
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
        assert set(attributes) <= ({"start"} if tag == "ol" else set())
    assert not re.search("[\u202a-\u202e\u2066-\u2069\x00-\x08\x1b]", html)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_become_harmless(text: str) -> None:
    for each in (text, f"# x\n\n{text}\n\ny", f"> - {text}", text * 50):
        check(readme_html(each))


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from([*HOSTILE, "\n", "\n\n", "> ", "- ", "`", "*", "[", "](", "<", "&", "|"]), max_size=12))
def test_combinations_become_harmless(parts: list[str]) -> None:
    check(readme_html("".join(parts)))


def test_markdown_is_rendered_with_headings_below_those_of_the_page() -> None:
    html = readme_html(
        "# A\n\n## B\n\n###### C\n\n*x* `y` ~~z~~ [l](https://example.org/a)\n\n3. i\n\n| a |\n|---|\n| b |"
    )
    for expected in (
        "<h3>A</h3>",
        "<h4>B</h4>",
        "<h6>C</h6>",
        "<em>x</em>",
        "<code>y</code>",
        "<s>z</s>",
        '<a href="https://example.org/a" rel="nofollow noopener noreferrer ugc">l</a>',
        '<ol start="3">',
        "<td>b</td>",
    ):
        assert expected in html
    assert "h1" not in readme_html("<h1>a</h1>")


def test_images_become_their_texts() -> None:
    assert readme_html("![A *badge*](https://evil.example/x.png) text") == "<p>A badge text</p>\n"


def test_hosts_of_links_are_ascii() -> None:
    assert 'href="https://xn--' in readme_html("[x](https://gіthub.example/)")


def test_long_texts_are_cut_and_expanding_ones_left_out() -> None:
    assert len(readme_html("word " * MAX_SOURCE)) <= MAX_SOURCE + 20
    for expanding in (
        "[](http://a)" * 2_000,
        "<" * MAX_SOURCE,
        "|a|b|\n|-|-|\n" + "|\n" * MAX_SOURCE,
        "<b>" * MAX_SOURCE,
    ):
        assert len(readme_html(expanding)) <= MAX_HTML


@awaited
async def test_a_text_is_rendered_once() -> None:
    calls: list[str] = []

    async def offload(function: Any, /, *args: Any, **kwargs: Any) -> Any:
        calls.append(args[0])
        return function(*args, **kwargs)

    readmes = Readmes(cast(Offload, offload))
    assert await readmes.html("*a*") == await readmes.html("*a*") == "<p><em>a</em></p>\n"
    assert await readmes.html(" \n") == ""
    assert calls == ["*a*"]
    for number in range(CACHED):
        await readmes.html(f"{number}")
    await readmes.html("*a*")
    assert calls.count("*a*") == 2


def test_the_entry_page_shows_the_readme(get_page: GetPage, server: Server) -> None:
    text = "# Mail\n\nReads **mail**. <script>alert(1)</script> [Docs](https://example.org/docs)"
    published = entry("io.github.example/readme", _meta={PUBLISHER: {"readme": text}})
    server.publish(published, entry("io.github.example/none", _meta={PUBLISHER: {"readme": 7}}))
    response = get_page(f"/servers/{published.mcp_id}")
    page = Document(response)
    assert b"<h3>Mail</h3>" in response.body
    assert b"<script>" not in response.body
    assert "https://example.org/docs" in page.links
    assert "README" not in Document(get_page(f"/servers/{entry('io.github.example/none').mcp_id}")).text
