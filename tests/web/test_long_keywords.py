"""Long keywords: REST, MCP and the search page show what was searched of them, and how to ask better."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

import pytest

from directory_server.domain.search import MAX_SEARCHED_FOR, Page
from directory_server.serialization import ASK_BETTER, LONG_TEXT, is_read_in_part
from directory_server.texts.sanitize import clean

from .conftest import POSTGRES_ID, Server
from .pages.conftest import Document, GetPage
from .pages.conftest import get_page as get_page

SEARCH = "/api/open/v1/search"

REQUEST = "I need a server to query my Postgres database"
CHATTER = "The last meeting was long and nobody wrote a word of it down. "
LONG = f"{CHATTER * 5}{REQUEST}. {CHATTER * 5}"
LONGEST = f"{LONG}{CHATTER * 60}"[:4_090]
SENTENCES = "So it goes on. " * 210 + REQUEST
MARKUP = '<script>alert(1)</script><img src=x onerror=alert(1)> \u202e\u2066\u200b\x1b[31m &amp; \\" \U000e0041'
HOSTILE = f"I need <b>a server</b> for my Postgres database {MARKUP}. {CHATTER * 5}"


def content(server: Server, keywords: str) -> dict[str, Any]:
    """Return the structured content of a search by the tool, which its text equals."""
    result = server.call("search_mcp", {"keywords": keywords})
    structured: dict[str, Any] = result["structuredContent"]
    assert json.loads(result["content"][0]["text"]) == structured
    return structured


def text_of(get_page: GetPage, keywords: str) -> str:
    return " ".join(Document(get_page(f"/?q={quote(keywords)}")).text.split())


def test_keywords_that_are_searched_as_they_are_have_no_such_text(server: Server, get_page: GetPage) -> None:
    assert "searched_for" not in content(server, "postgres")
    assert "searched_for" not in server.get(f"{SEARCH}?keywords=postgres&fields=name").json
    assert "Searched for" not in text_of(get_page, "postgres")


def test_rest_says_what_was_searched_with_the_fields(server: Server) -> None:
    for fields in ("mcp_id", "mcp_id,version"):
        body = server.get(f"{SEARCH}?keywords={quote(LONG)}&fields={fields}").json
        assert body["data"][0]["mcp_id"] == POSTGRES_ID
        assert body["searched_for"].startswith(REQUEST)
    assert set(server.get(f"{SEARCH}?keywords={quote(LONG)}").json) == {"data", "count"}


@pytest.mark.parametrize("keywords", [LONG, LONGEST, SENTENCES])
def test_a_model_reads_what_was_searched_and_how_to_ask_better(server: Server, keywords: str) -> None:
    found = content(server, keywords)
    # The request of the last text is behind the sentences that are read.
    assert (found["searched_for"].startswith(REQUEST)) == (keywords != SENTENCES)
    assert (f"{LONG_TEXT} {ASK_BETTER}" in found.get("message", "")) == (keywords != LONG)
    # A result from the cache is the same.
    assert content(server, keywords) == content(server, keywords) == found


def test_a_result_without_hits_says_both(server: Server) -> None:
    found = content(server, "zzzqqq xxyyzz. " * 272)
    assert found["count"] == 0
    assert found["message"].startswith("No entry matches.")
    assert found["message"].endswith(ASK_BETTER)
    assert found["searched_for"]


@pytest.mark.parametrize(
    ("language", "label", "advice"), [("en", "Searched for: ", ASK_BETTER), ("zh", "实际搜索： ", "请用一句话提问")]
)
def test_the_page_says_it_in_the_language_of_the_reader(
    get_page: GetPage, language: str, label: str, advice: str
) -> None:
    for keywords in (LONG, LONGEST):
        response = get_page(f"/?q={quote(keywords)}", Accept_Language=language)
        text = " ".join(Document(response).text.split())
        assert label + REQUEST in text
        assert (advice in text) == (keywords == LONGEST)


def test_the_text_is_cleaned_and_escaped(server: Server, get_page: GetPage) -> None:
    searched = content(server, HOSTILE)["searched_for"]
    assert searched == clean(searched)
    assert "<b>" in searched
    assert server.get(f"{SEARCH}?keywords={quote(HOSTILE)}&fields=name").json["searched_for"] == searched
    body = get_page(f"/?q={quote(HOSTILE)}").body.decode()
    assert "Searched for:" in body
    assert "<b>" not in body
    assert "<script>alert" not in body
    assert not {"\u202e", "\u2066", "\u200b", "\x1b", "\U000e0041"} & {*searched, *body.partition("Searched for:")[2]}


@pytest.mark.parametrize("text", ["a" * 5_000, "\ufdfa" * 5_000, "\x00" * 5_000, "\ud800" * 5_000, "\u200b" * 5_000])
def test_the_text_has_a_bound(text: str) -> None:
    page = Page((), searched_for=text)  # type: ignore[arg-type]
    assert len(page.searched_for) <= MAX_SEARCHED_FOR
    assert page.searched_for.encode()[:1] or not clean(text).strip()


def test_an_error_for_too_long_keywords_says_how_to_ask(server: Server) -> None:
    response = server.get(f"{SEARCH}?keywords={'a' * 4_097}")
    assert response.json["message"].endswith(f"not 4,097. {ASK_BETTER}")


@pytest.mark.parametrize(
    ("keywords", "expected"),
    [("x." * 128, False), ("x." * 150, False), ("x." * 201, True), ("。" * 300, True), ("x" * 4_000, False)],
)
def test_keywords_are_read_in_part_from_a_number_of_sentences(keywords: str, expected: bool) -> None:
    assert is_read_in_part(keywords) == expected
    assert is_read_in_part(keywords.ljust(4_001))
