"""Conversions of one thing to another, in texts and queries."""

from __future__ import annotations

import pytest

from bench.engines.explanation import explain
from directory_server.domain.search import Query
from directory_server.search.index.document import build_document
from directory_server.search.index.translated_terms import CONVERSION, MAX_CONVERSIONS
from directory_server.search.text.conversions import conversions
from tests.contract.index import make_entry

from . import index_of, search_names

NAMES = {
    "html-to-markdown": {("html", "markdown")},
    "html2md-mcp": {("html", "md"), ("html", "mcp")},
    "text_to_speech": {("text", "speech")},
    "CSV → JSON": {("csv", "json")},
    "Speech to Text": {("speech", "text")},
    "oauth2client": {("oauth", "client")},
    "to markdown": set(),
    "convert to": set(),
}


@pytest.mark.parametrize(("name", "expected"), NAMES.items())
def test_conversions_of_a_name(name: str, expected: set[tuple[str, str]]) -> None:
    assert conversions(name, is_name=True) == expected


TEXTS = {
    "Converts PDF or DOCX files to clean Markdown.": {
        (source, target) for source in ("pdf", "docx", "file") for target in ("clean", "markdown")
    },
    "HTML to PDF converter": {("html", "pdf")},
    "(html-to-pdf)": {("html", "pdf")},
    # "to" has other meanings, and a sentence ends the phrase.
    "Connects agents to databases": set(),
    "Converts files. Sends them to me": set(),
    "Convert to what?": set(),
}


@pytest.mark.parametrize(("text", "expected"), TEXTS.items())
def test_conversions_of_a_text(text: str, expected: set[tuple[str, str]]) -> None:
    assert conversions(text) == expected


def test_entries_that_convert_in_the_asked_direction_come_first() -> None:
    there = make_entry("a/there", "Converts HTML pages of web sites to the Markdown format")
    back = make_entry("a/back", "Converts Markdown to HTML")
    index = index_of(there, back, *(make_entry(f"b/{n}", "Something else") for n in range(40)))
    assert search_names(index, "convert html to markdown") == ["a/there", "a/back"]
    assert search_names(index, "markdown to html") == ["a/back", "a/there"]
    assert "html to markdown" in explain(index, Query("convert html to markdown", 1))


def test_a_sentence_states_a_conversion_with_a_verb() -> None:
    index = index_of(make_entry("a/contract-to-buyer", "Transforms a contract"), make_entry("a/x", "Send"))
    sentence = "somebody has to send the signed contract to the buyer today"
    assert "contract to buyer" not in explain(index, Query(sentence, 1))
    assert "contract to buyer" in explain(index, Query(sentence.replace("send", "transform"), 1))


def test_conversions_of_tools_and_of_long_texts_are_searched() -> None:
    tools = [{"name": "svg_to_png", "description": "Transforms an audio file into text"}]
    meta = {"io.modelcontextprotocol.registry/publisher-provided": {"tools": tools}}
    terms = build_document(make_entry("a/x", _meta=meta)).special_terms
    assert {f"{CONVERSION}svg png", f"{CONVERSION}audio text"} <= {*terms}


def test_conversions_of_an_entry_are_bounded() -> None:
    text = " ".join(f"converts a{n} b{n} c{n} to d{n} e{n}." for n in range(60))
    terms = build_document(make_entry("a/x-to-y", text, title=text)).special_terms
    assert sum(term.startswith(CONVERSION) for term in terms) <= MAX_CONVERSIONS
