"""Synthetic entries and generated queries."""

from __future__ import annotations

from bench.catalogue.queries import LONGEST, REPEATED, hostile, word_pairs
from bench.catalogue.synthetic import SyntheticAnalysis, synthetic_changes, synthetic_entries
from directory_server.domain.changes import Change
from directory_server.domain.entries import Entry
from directory_server.search import TextAnalysis
from directory_server.search.index.packing import unpack
from directory_server.serialization import encode_entry


def named(*names: str) -> list[Entry]:
    return [Entry({"name": name, "version": "1.0.0", "description": f"About {name}"}) for name in names]


def test_hostile_queries_are_deterministic_and_short_enough_for_the_apis() -> None:
    entries = named("io.github.a/mail", "io.github.b/post")
    queries = list(hostile(entries))
    assert queries == list(hostile(entries))
    assert all(0 < len(query) <= LONGEST for _, query in queries if query)
    assert len({name for name, _ in queries}) == len(queries)


def test_synthetic_changes_have_other_ids() -> None:
    analysis = TextAnalysis()
    changes = [
        Change(1, "added", e.mcp_id, encode_entry(e), analysis(e))
        for e in named("io.github.a/mail", "io.github.b/post")
    ]
    made = list(synthetic_changes(changes, 5))
    assert made[:2] == changes
    assert len({change.mcp_id for change in made}) == 5


def test_synthetic_entries_have_other_names_and_a_word_of_their_own() -> None:
    entries = named("io.github.a/mail", "io.github.b/post")
    made = list(synthetic_entries(entries, 5))
    assert made[:2] == entries
    assert made == list(synthetic_entries(entries, 5))
    assert [each.name for each in made[2:]] == ["io.github.a/mailx1", "io.github.b/postx1", "io.github.a/mailx2"]
    assert len({each.brief for each in made}) == 5
    assert list(synthetic_entries(entries, 1)) == entries[:1]


def test_documents_of_synthetic_entries_are_those_of_their_originals_renamed() -> None:
    entries = named("io.github.a/mail", "io.github.b/postx1")
    analysis, usual = SyntheticAnalysis(entries), TextAnalysis()
    assert analysis.version == usual.version
    for entry in synthetic_entries(entries, 6):
        found, expected = unpack(analysis(entry)), unpack(usual(entry))
        assert (found.row.name, found.row.mcp_id) == (entry.name, entry.mcp_id)
        # The usual analysis also has the words of the new name.
        assert {*found.words.split()} - {"mail", "post", "postx"} <= {*expected.words.split()}
        assert entry in entries or entry.brief.split()[-1] in found.words.split()


def test_word_pairs_are_distinct_or_repeat() -> None:
    entries = [Entry({"name": "a/b", "version": "1", "description": f"send mail {word}"}) for word in ("fast", "late")]
    assert len(set(word_pairs(entries, 50, distinct=True))) == 50
    assert word_pairs(entries, 50, distinct=True) == word_pairs(entries, 50, distinct=True)
    repeated = word_pairs(entries, 50, distinct=False)
    assert len(repeated) == 50
    assert len(set(repeated)) <= REPEATED
