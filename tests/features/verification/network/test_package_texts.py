"""Texts of packages: the prose of a README, summaries, keywords, and what hostile ones cost."""

from __future__ import annotations

from typing import Any

import pytest

from directory_server.domain.checks import MAX_KEYWORDS, MAX_README, MAX_SUMMARY, PackageTexts
from directory_server.features.verification.network._package_texts import MAX_MARKUP, package_texts, prose_of

README = """\
<!-- mcp-name: io.github.acme/weather -->
<p align="center"><img src="https://x.example/logo.png" alt="Logo"></p>

# Weather

[![build](https://x.example/badge.svg)](https://x.example/ci) ![npm](https://x.example/npm.svg)

Forecasts and **tide tables** from [Acme](https://acme.example/api?key=1) &amp; others, see <https://acme.example>.

## Installation

Add this to your configuration:

```json
{"mcpServers": {"weather": {"command": "npx", "args": ["-y", "@acme/weather"]}}}
```

## Tools

| Tool | Description |
|------|-------------|
| `get_tides` | Tides of a *harbour*, by `npx run tides` |

```sh
curl x
```

> A quote about storms.
"""


def test_the_prose_of_a_readme_has_no_code_links_and_sections_of_code() -> None:
    assert prose_of(README) == (
        "Weather Forecasts and tide tables from Acme others, see . Tools Tool Description "
        "get_tides Tides of a harbour, by A quote about storms."
    )


def test_restructured_text_is_read_too() -> None:
    readme = (
        "Weather\n=======\n\n.. image:: https://x.example/a.svg\n   :alt: badge\n\nForecasts.\n\n"
        "Install\n-------\n\n.. code-block:: sh\n\n   pip install weather\n\nUsage\n-----\n\nAsk for storms.\n"
    )
    assert prose_of(readme) == "Weather Forecasts. Usage Ask for storms."


def test_a_readme_without_headings_is_kept() -> None:
    assert prose_of("Forecasts.\n\n```\n" + "x" * 500 + "\n```\n") == "Forecasts."


@pytest.mark.parametrize(
    ("keywords", "expected"),
    [
        (["weather", "Tide tables", 7, "weather", "\u202eevil", ""], ("weather", "Tide tables", "evil")),
        ("weather, tide tables", ("weather", "tide tables")),
        ("weather tides", ("weather", "tides")),
        (None, ()),
        ({"weather": 1}, ()),
        ([f"k{n}" for n in range(500)], tuple(f"k{n}" for n in range(MAX_KEYWORDS))),
    ],
)
def test_keywords_are_lists_or_texts(keywords: Any, expected: tuple[str, ...]) -> None:
    assert package_texts(7, keywords, ["no text"]) == PackageTexts("", expected, "")


def test_texts_are_cleaned_and_bounded() -> None:
    texts = package_texts("a\u202eb\n\x1b[31mc" + "d" * 5_000, ["k" * 5_000], "e\u200bf " * 5_000)
    assert texts.summary.startswith("ab \ufffd[31mc")
    assert len(texts.summary) == MAX_SUMMARY
    assert [len(word) for word in texts.keywords] == [40]
    assert texts.readme.startswith("ef ef")
    assert len(texts.readme) <= MAX_README


@pytest.mark.parametrize(
    "pattern", ["<!--", "<a", "[", "![", "](", "![a](", "`a ", "&a", "a://", "|", "#\n", "```\n", "a\n---\n", ".. |\n"]
)
def test_every_repeated_mark_is_read(pattern: str) -> None:
    assert len(prose_of(pattern * MAX_MARKUP)) <= MAX_README


def test_the_id_is_that_of_the_texts() -> None:
    ids = {
        PackageTexts("a", ("b",), "c").id,
        PackageTexts("a", ("b", "c")).id,
        PackageTexts("a", (), "b\0c").id,
        PackageTexts("ab", (), "c").id,
    }
    assert len(ids) == 4
    assert PackageTexts("a", ("b",), "c").id in ids
    assert PackageTexts().id == ""
