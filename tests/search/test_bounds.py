"""Large entries: their analysis, documents and cached tokens are bounded."""

from __future__ import annotations

import gc
import tracemalloc
from itertools import islice, product
from string import ascii_lowercase
from time import thread_time

import numpy as np
import pytest

from directory_server.domain.changes import Change
from directory_server.domain.entries import PUBLISHER, Entry
from directory_server.search import TextAnalysis
from directory_server.search.index.document import MAX_LETTERS, MAX_WORDS, build_document
from directory_server.search.index.facets import facet
from directory_server.search.index.packing import pack
from directory_server.search.percolator import percolate
from directory_server.search.query.parsing import parse
from directory_server.search.text import tokens
from tests.contract.index import make_entry

from . import index_of, plan_of, search

pytestmark = pytest.mark.slow

SIZE = 60_000
"""Characters of a large text."""

WORDS = " ".join(map("".join, islice(product(ascii_lowercase, repeat=5), SIZE // 6)))
HAN = "".join(chr(0x4E00 + number * 7919 % 20_000) for number in range(SIZE))
ASTRAL = "".join(chr(0x20000 + number * 7919 % 40_000) for number in range(SIZE))
EXPANDING = "\ufdfa" * (SIZE // 10)
"""Folding expands each character to 18."""


def entry(description: str = "", packages: object = (), **publisher: object) -> Entry:
    server = {"name": "x/a", "version": "1", "description": description, "_meta": {PUBLISHER: publisher}}
    return Entry(server | ({"packages": packages} if packages else {}))


LARGE = {
    "words": lambda: entry(WORDS),
    "Chinese": lambda: entry(HAN),
    "Chinese beyond the basic plane": lambda: entry(ASTRAL),
    "characters that stand for eighteen": lambda: entry(EXPANDING),
    "a title": lambda: Entry({"name": "x/a", "version": "1", "description": "", "title": WORDS}),
    "a URL": lambda: Entry({"name": "x/a", "version": "1", "description": "", "websiteUrl": "https://x/" + WORDS}),
    "tags": lambda: entry(tags=WORDS.split()),
    "a long tag": lambda: entry(tags=[HAN]),
    "tags that expand": lambda: entry(tags=["\ufdfa" * 200] * 150),
    "translations": lambda: entry(descriptions={f"l{number}": HAN[number : number + 999] for number in range(300)}),
    "tools": lambda: entry(tools=[{"name": word, "description": word} for word in WORDS.split()]),
    "packages": lambda: entry(packages=[{"registryType": word, "transport": {"type": word}} for word in WORDS.split()]),
    "a registry type that is a list": lambda: entry(packages=[{"registryType": WORDS.split()}]),
    "texts": lambda: entry(alternativeDescriptions=WORDS.split(), longDescription=WORDS, readme=HAN),
    "joined words": lambda: entry(WORDS.replace(" ", "-")),
}


@pytest.mark.parametrize("kind", LARGE)
def test_document_and_caches_of_a_large_entry_are_bounded(kind: str) -> None:
    build_document(entry("Load the tables that are read once."))
    build_document(entry("文字"))
    large = LARGE[kind]()
    gc.collect()
    tracemalloc.start()
    try:
        document = build_document(large)
        gc.collect()
        size, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # The caches hold a limited number of tokens of short words, of short filters, and of findings of short texts.
    assert size < 4_000_000
    assert len(document.terms) <= MAX_WORDS
    assert sum(map(len, document.terms)) <= MAX_LETTERS
    assert sum(map(len, document.special_terms)) < 30_000
    assert len(pack(document)) < 100_000


SIGNS = "1." * 5_000 + "x", "1.2/" + "1" * 9_000 + "x", "a" + "\u0301\u0316" * 5_000


@pytest.mark.parametrize("text", SIGNS, ids=["numbers", "a range", "combining marks"])
def test_time_of_the_analysis_is_proportional_to_the_text(text: str) -> None:
    """The standard library takes quadratic time for combining marks, and expressions that go back do for numbers."""
    tokens(text)
    start = thread_time()
    tokens(text)
    assert thread_time() - start < 0.03


def test_long_filter_value_is_truncated_before_caching() -> None:
    assert facet("tag", "x" * SIZE) == facet("tag", "x" * 200)
    assert parse(f'tag:"{"x" * 300}"').required == parse(f'tag:"{"x" * 200}"').required


def test_document_keeps_the_words_of_the_greatest_weight() -> None:
    document = build_document(entry("weather", longDescription=WORDS[:20_000], tags=["rainfall"], title="Zephyr"))
    assert len(document.terms) == len(np.frombuffer(document.weights, "<f2")) == len(document.flags) == MAX_WORDS
    flags = dict(zip(document.terms, document.flags, strict=True))
    assert (flags["a"], flags["weather"], flags["rainfal"]) == (1, 2, 0)


def test_query_matches_the_name_of_a_large_entry() -> None:
    change = Change(1, "added", "id", b"{}", TextAnalysis()(entry(WORDS)))
    assert percolate(change, ["a", "zzzzz"]) == {"a"}


HOSTILE = {
    "one word": "a" * 256,
    "words that no entry has": " ".join(f"wrong{number}" for number in range(32)),
    "beginnings": " ".join("abcdefghijklmnopqrstuvwxyz" * 9),
    "filters": "tag:x " * 42,
    "alternatives": "tag:" + "|".join(map(str, range(60))),
    "exclusions": "-a " * 80,
    "phrases": '"a b" ' * 40,
    "Chinese": "".join(chr(0x4E00 + 7 * number) for number in range(256)),
    "one long name": "a-" * 128,
    "a concept in each word": "weather mail invoice music photo map train recipe book travel news stock tax pdf chat "
    * 2,
}


@pytest.mark.parametrize("keywords", HOSTILE.values(), ids=HOSTILE)
def test_plans_of_hostile_queries_are_bounded(keywords: str) -> None:
    words = [make_entry(f"org.example/{word}", f"{word} {word}s {word}ing") for word in WORDS.split()[:300]]
    index = index_of(*words, make_entry("org.example/han", HAN[:2_000]))
    plan = plan_of(index, keywords)
    assert len(plan.words) <= 64
    assert len(plan.concepts) <= 8
    assert sum(map(len, plan.groups)) <= 1_000
    assert len(plan.parsed.required) <= 42
    search(index, keywords, browse=True)
