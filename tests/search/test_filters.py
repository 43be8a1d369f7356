"""Filters in keywords: phrases, excluded words, tags, transports, packages, official."""

from __future__ import annotations

from directory_server.domain.entries import OFFICIAL, PUBLISHER, Entry
from directory_server.search.query.parsing import parse
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


def test_words_of_a_phrase_are_ranked_and_filters_are_not() -> None:
    query = parse('tag:mail "mail box" -letter post')
    assert [word.parts for word in query.words] == [("mail",), ("box",), ("post",)]
    assert (query.phrases, query.excluded) == (["mail box"], ["letter"])


def test_everyday_words_are_expanded_to_concepts() -> None:
    index = index_of(make_entry("org.example/sky", "Weather and forecasts"), make_entry("org.example/other", "Mail"))
    for keywords in ("do I need an umbrella tomorrow", "明日は傘が必要ですか", "明天要带伞吗"):
        assert search_names(index, keywords) == ["org.example/sky"]


def test_translations_are_learnt_from_bilingual_entries() -> None:
    both = [
        make_entry(
            f"org.example/{n}", f"zeppelin flights number {n}", _meta={PUBLISHER: {"descriptions": {"zh": "飞艇"}}}
        )
        for n in range(3)
    ]
    others = [
        make_entry(f"org.other/{n}", f"tramway rides {n}", _meta={PUBLISHER: {"descriptions": {"zh": "电车"}}})
        for n in range(3)
    ]
    index = index_of(*both, *others, make_entry("org.example/english", "A zeppelin"))
    names = search_names(index, "飞艇")
    assert "org.example/english" in names
    assert not any(name.startswith("org.other") for name in names)
