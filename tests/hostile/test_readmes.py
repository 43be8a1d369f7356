"""Hostile README texts: rendering has bounds of tokens, steps, elements and memory, whatever the text."""

from __future__ import annotations

import tracemalloc
from collections import Counter
from collections.abc import Callable
from typing import Any

import nh3
import pytest
from markdown_it.parser_inline import ParserInline
from markdown_it.token import Token

from directory_server.web.pages._readme import MAX_COPIES, MAX_HTML, MAX_STEPS, MAX_TOKENS, TooLarge, readme_html

from ._readmes import SINGLE, texts

MEMORY = 6_000_000
"""Bytes that one rendering may allocate in Python."""


def html_of(text: str) -> str | None:
    try:
        return readme_html(text)
    except TooLarge:
        return None


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Return what a rendering does: tokens that it creates and skips, and tags of the HTML after cleaning."""
    counted: Counter[str] = Counter()

    def count(owner: Any, name: str, kind: str, amount: Callable[[Any], int] = lambda result: 1) -> None:
        original = getattr(owner, name)

        def counting(*args: Any, **kwargs: Any) -> Any:
            result = original(*args, **kwargs)
            counted[kind] += amount(result)
            return result

        monkeypatch.setattr(owner, name, counting)

    count(Token, "__init__", "tokens")
    count(ParserInline, "skipToken", "skipped")
    count(nh3, "clean", "tags", lambda html: html.count("<"))
    return counted


@pytest.mark.parametrize("text", [pytest.param(text, id=name) for name, text in texts()])
def test_the_work_is_bounded(work: Counter[str], text: str) -> None:
    html = html_of(text)
    assert work["tokens"] <= MAX_TOKENS + 1
    assert work["skipped"] <= MAX_STEPS
    # The source has at most half as many tags as characters. The parser of HTML adds the others.
    assert work["tags"] <= len(text) + 2 * MAX_COPIES
    assert html is None or len(html) <= MAX_HTML


def test_the_memory_is_bounded() -> None:
    # The work bounds the memory of the others; tracing it takes fifty times as long as rendering.
    for name, text in SINGLE.items():
        tracemalloc.start()
        html_of(text)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < MEMORY, name


@pytest.mark.parametrize("name", [name for name in SINGLE if "table of" in name or "formatting in" in name])
def test_texts_that_grow_are_too_large(name: str) -> None:
    if name != "a table of two columns":
        assert html_of(SINGLE[name]) is None
