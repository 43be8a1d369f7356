"""Template filters: safe links, and text without control or bidirectional characters."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from directory_server.web.pages._filters import caution, code, host, link, plain


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "JavaScript:alert(1)",
        "java\nscript:alert(1)",
        "\x01javascript:alert(1)",
        "data:text/html,<script>",
        "vbscript:x",
        "file:///etc/passwd",
        "//example.org/",
        "/account/keys",
        "https:",
        "https:///path",
        "https://bank.example@evil.example/",
        "http://[::1",
        "https://example.org/\u202egnp",
        "https://example.org/ x",
        "https://example.org/\u3164",
        "https://example.org/" + "x" * 2_000,
        "",
        None,
        7,
        {"url": "https://example.org"},
    ],
)
def test_invalid_urls_are_not_links(url: object) -> None:
    assert link(url) == ""
    assert host(url) == ""


@pytest.mark.parametrize("url", ["https://example.org", "http://example.org:8080/a?b=c#d", "https://[2606::1]/"])
def test_web_addresses_are_links(url: str) -> None:
    assert link(url) == url
    assert caution(url) == ""


@pytest.mark.parametrize(
    ("url", "expected", "why"),
    [
        ("https://例え.jp/a", "https://xn--r8jz45g.jp/a", "international"),
        ("https://gіthub.com:8443/a", "https://xn--gthub-n2e.com:8443/a", "international"),
        ("https://ｇｉｔｈｕｂ.com/a?b#c", "https://github.com/a?b#c", "international"),
        ("https://xn--gthub-n2e.com/", "https://xn--gthub-n2e.com/", "international"),
        ("http://169.254.169.254/latest", "http://169.254.169.254/latest", "local"),
        ("http://192.168.1.1/", "http://192.168.1.1/", "private"),
        ("http://2130706433/", "", ""),
        ("https://☃.example/", "", ""),
    ],
)
def test_hosts_of_links_are_ascii_with_a_caution(url: str, expected: str, why: str) -> None:
    assert link(url) == expected
    assert caution(url) == why


@given(st.text())
def test_links_are_http_or_https(url: str) -> None:
    assert link(url) == "" or link(url).lower().startswith(("http://", "https://"))


@given(st.text(st.characters() | st.sampled_from("\u202e\u2066\x00\x1b\ud800")), st.integers(2, 50))
def test_plain_text_has_no_control_characters_and_is_bounded(text: str, most: int) -> None:
    expected = plain(text, most)
    assert len(expected) <= most
    assert not set(expected) & set(
        "\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\x00\x1b\x9b\ud800"
    )


def test_truncated_text_ends_with_an_ellipsis() -> None:
    assert plain("one two three", 8) == "one two…"


def test_code_in_an_element_has_its_quotes_and_no_tags() -> None:
    assert code("""{"a": '<b> & </code>'}""") == """{"a": '&lt;b&gt; &amp; &lt;/code&gt;'}"""
