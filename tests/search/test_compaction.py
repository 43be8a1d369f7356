"""Vocabulary compaction in an index whose entries change often."""

from __future__ import annotations

from directory_server.domain.changes import Change
from directory_server.domain.entries import Entry
from directory_server.domain.search import Query
from directory_server.run_sync import inline, run_sync
from directory_server.search import ImpactIndex, TextAnalysis
from directory_server.serialization import encode_entry

analysis = TextAnalysis()


def change(seq: int, number: int, words: str) -> Change:
    server = {"name": f"x/server-{number}", "version": "1", "description": words, "title": f"Mail {number}"}
    entry = Entry(server | {"packages": [{"registryType": "npm"}]})
    return Change(seq, "changed", entry.mcp_id, encode_entry(entry), analysis(entry))


def briefs(index: ImpactIndex, keywords: str) -> list[tuple[str, str]]:
    page = run_sync(index.search(Query(keywords, 100)))
    return [(hit.name, hit.brief) for hit in page.hits]


def test_unused_words_are_removed_from_the_vocabulary() -> None:
    index, updates = ImpactIndex(inline, sizes=(2, 10)), 30
    for number in range(updates):
        changes = [change(number, each, f"weather word{number}x{each} forecasting") for each in range(20)]
        run_sync(index.apply(changes))
    vocabulary = index._snapshot.vocabulary
    assert len(vocabulary) < 900
    same = ImpactIndex(inline, sizes=(2, 10))
    run_sync(same.apply(changes))
    for keywords in (
        "weather",
        "forecast",
        "mail 7",
        "server-1",
        "x/server-3",
        "wether",
        "package:npm mail",
        "word29x3",
    ):
        assert briefs(index, keywords) == briefs(same, keywords) != []
    assert briefs(index, "word3x3 -weather") == []
