"""Filters in keywords: phrases, excluded words, facts, tags, transports, packages, namespaces."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from directory_server.domain.entries import OFFICIAL, PUBLISHER, Entry
from directory_server.search.index import packed
from directory_server.search.index.packed import Packed
from tests.contract.index import make_entry

from . import index_of, search_names

LOCAL = make_entry(
    "org.example/local",
    "Reads your mail box",
    packages=[{"registryType": "npm", "identifier": "x", "transport": {"type": "stdio"}}],
    _meta={PUBLISHER: {"tags": ["Vector Database"]}},
)
REMOTE = Entry(
    make_entry(
        "org.example/remote", "A box for mail", remotes=[{"type": "streamable-http", "url": "https://x"}]
    ).server,
    {OFFICIAL: {"status": "active"}},
    is_official=True,
)
ODD = Entry(
    make_entry("org.example/odd", "Mail", packages=[{"registryType": 7}, "x"], remotes=[{"type": None}]).server,
    {OFFICIAL: {"status": "active", "isLatest": True}},
)

EXPECTED = {
    "mail": {"local", "remote", "odd"},
    '"mail box"': {"local"},
    'mail "BOX  for"': {"remote"},
    '"no such words"': set(),
    "mail -box": {"odd"},
    "mail -odd": {"local", "remote"},
    "mail not box": {"local", "remote", "odd"},
    "mail -reading": {"remote", "odd"},
    "mail - box": {"local", "remote", "odd"},
    "mail-box": {"local", "remote", "odd"},
    'mail tag:"vector database"': {"local"},
    "mail tag:vector-database": {"local"},
    "mail transport:stdio": {"local"},
    "mail transport:http": {"remote"},
    "mail transport:sse": set(),
    "mail package:npm": {"local"},
    "mail PACKAGE:NPM": {"local"},
    "mail official:true": {"remote"},
    "mail official:false": {"local", "odd"},
    "transport:stdio": {"local"},
    "-mail": set(),
    "-box": {"odd"},
    "official:true -remote": set(),
    "mail flavour:sweet": {"local", "remote", "odd"},
    "mail http://x": {"local", "remote", "odd"},
    'mail "': {"local", "remote", "odd"},
    '""': set(),
    "tag:": set(),
    "mail runs:local": {"local", "odd"},
    "mail runs:remote": {"remote", "odd"},
    "mail runs:unknown": set(),
    "mail auth:key": set(),
    "mail AUTH:Unknown": {"local", "remote", "odd"},
    "mail auth:none": set(),
    "mail auth:secret": set(),
    "mail language:ts": {"local"},
    "mail language:unknown": {"remote", "odd"},
    "mail license:unknown -odd": {"local", "remote"},
    "mail auth:none|unknown": {"local", "remote", "odd"},
    "mail auth:none|key": set(),
    "mail language:rust|ts runs:local|remote": {"local"},
    'mail language:"typescript | unknown"': {"local", "remote", "odd"},
    "mail auth:|": set(),
    "mail namespace:org.example": {"local", "remote", "odd"},
    "mail namespace:ORG.example|com.example": {"local", "remote", "odd"},
    "mail namespace:orgexample": set(),
    "namespace:org": set(),
}


def test_filters_select_entries() -> None:
    index = index_of(LOCAL, REMOTE, ODD)
    short = {keywords: {name.rpartition("/")[2] for name in search_names(index, keywords)} for keywords in EXPECTED}
    assert short == EXPECTED


def test_everyday_words_are_expanded_to_concepts() -> None:
    index = index_of(make_entry("org.example/sky", "Weather and forecasts"), make_entry("org.example/other", "Mail"))
    for keywords in ("do I need an umbrella tomorrow", "明日は傘が必要ですか", "明天要带伞吗"):
        assert search_names(index, keywords) == ["org.example/sky"]


def test_a_phrase_is_not_found_across_two_texts_and_is_found_among_all_entries() -> None:
    others = [make_entry(f"org.example/{number}", "mail for you, and you for mail") for number in range(300)]
    rare = make_entry("org.example/rare", "you and for mail " + "which is longer than the other descriptions " * 3)
    index = index_of(*others, rare)
    assert search_names(index, '"you and for" "mail"') == ["org.example/rare"]
    assert len(search_names(index, '"and you for"')) == 50
    assert search_names(index, '"mail mail"') == search_names(index, '"mail org"') == []


def test_a_phrase_counts_as_exact_beside_few_words_only() -> None:
    index = index_of(make_entry("org.example/tasks", "Adds tasks to lists"))
    assert search_names(index, 'add a task to my list every time the user says "remind me"') == ["org.example/tasks"]
    assert search_names(index, 'add a task "remind me"') == []


@pytest.mark.parametrize("chunk", [1, 5, 1_000])
@pytest.mark.parametrize("seed", range(4))
def test_items_that_contain_a_key(monkeypatch: pytest.MonkeyPatch, seed: int, chunk: int) -> None:
    monkeypatch.setattr(packed, "CHUNK", chunk)
    random = Random(seed)
    items = ["".join(random.choices("abé", k=random.randrange(7))).encode() for _ in range(60)]
    found = Packed.of(items)
    for key in (b"a", b"ab", b"aa", "éa".encode(), b"abab", b"zz"):
        for numbers in (np.arange(60), np.array([7, 3, 3]), np.empty(0, np.int64)):
            assert found.containing(numbers, key).tolist() == [key in items[number] for number in numbers.tolist()]
