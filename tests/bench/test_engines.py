"""Explanations of rankings, and synthetic entries, on the sample catalogue."""

from __future__ import annotations

import pytest

from bench.catalogue.files import read_sample
from bench.catalogue.synthetic import synthetic_changes
from bench.engines.explanation import explain_lines
from bench.engines.ours import our_index
from directory_server.domain.changes import Change
from directory_server.domain.search import Query
from directory_server.runtime.run_sync import inline, run_sync
from directory_server.search import ImpactIndex, TextAnalysis
from directory_server.serialization import encode_entry

SENTENCE = "I want to know whether I need an umbrella when I leave the house on Saturday morning. "


@pytest.fixture(scope="module")
def index() -> ImpactIndex:
    return our_index(read_sample())


@pytest.mark.parametrize(
    ("keywords", "groups", "parts"),
    [
        ("github", ["github: github 1.00"], ["github ", "name maker:github ", "prior "]),
        ("umbrella saturday", ["concept weather: "], ["concept weather "]),
        ("repository without api key", ["repository: "], ["condition no key needed "]),
        ("postgres but no mysql", ["avoided: mysql"], ["postgres "]),
        (SENTENCE * 4, ["searched for: ", "concept weather: "], ["concept weather ", "cosine "]),
        ("official:true", [], ["prior "]),
        ("qqqqzzzzxx", [], []),
    ],
)
def test_an_explanation_has_the_rows_of_a_query_and_what_hits_have_of_them(
    index: ImpactIndex, keywords: str, groups: list[str], parts: list[str]
) -> None:
    lines = [*explain_lines(index, Query(keywords, limit=5))]
    for group in groups:
        assert any(line.startswith(group) for line in lines), lines
    text = "\n".join(line for line in lines if line.startswith("      "))
    for part in parts:
        assert part in text, lines
    # The hits are those of a search, in their order.
    names = [line.split()[-1] for line in lines if line[:4].strip().isdigit()]
    assert names == [hit.server_name for hit in run_sync(index.search(Query(keywords, limit=5))).hits]


def test_synthetic_changes_have_names_and_a_word_of_their_own() -> None:
    entries, analysis = read_sample()[:3], TextAnalysis()
    changes = [Change(seq, "added", e.mcp_id, encode_entry(e), analysis(e)) for seq, e in enumerate(entries, 1)]
    made = [*synthetic_changes(changes, 8)]
    index = ImpactIndex(inline)
    run_sync(index.apply(made))
    assert len(index) == 8
    page = run_sync(index.search(Query(f"{entries[1].mcp_id[:8]}x2")))
    assert [hit.server_name for hit in page.hits] == [f"{entries[1].name}x2"]
