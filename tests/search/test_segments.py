"""Segments and views: the same results however entries are divided into segments, in scopes, and in every process."""

from __future__ import annotations

import os
import subprocess
import sys
from random import Random
from typing import Any

import numpy as np
import pytest
from attrs import evolve

from directory_server.domain.changes import Change
from directory_server.domain.entries import Entry
from directory_server.domain.scopes import Scope
from directory_server.runtime.run_sync import inline, run_sync
from directory_server.search import ImpactIndex
from directory_server.search.index.segment import Segment
from directory_server.search.query.parsing import parse
from directory_server.search.query.plan import build_plan
from tests.contract.index import additions, make_entry, removals

from . import OTHERS, index_of, index_of_changes, plan_of, search
from .filled_index import filled
from .random_changes import QUERIES, WORDS, changes_of

pytestmark = pytest.mark.slow

Results = list[tuple[list[str], Any, float]]


def results(index: ImpactIndex, scope: Scope = None) -> Results:
    """Return the hits, relevance and strength of each of QUERIES, for words and for all orders."""
    pages = [search(index, query, 400, scope=scope) for query in QUERIES]
    found = [([hit.mcp_id for hit in page.hits], np.round(page.relevance, 4).tolist(), page.strength) for page in pages]
    browsed = (
        search(index, query, 400, sort=sort, browse=True, scope=scope)
        for query in ["", *QUERIES]
        for sort in ("stars", "updated")
    )
    return [*found, *(([hit.mcp_id for hit in page.hits], page.summary, page.strength) for page in browsed)]


def random_entries(seed: int, count: int) -> list[Entry]:
    random = Random(seed)
    return [
        make_entry(f"org.example/server-{number}", " ".join(random.choices(WORDS, k=random.choice([2, 5, 9]))))
        for number in random.sample(range(count), count)
    ]


@pytest.mark.parametrize(("seed", "count"), [(1, 40), (2, 40), (3, 300)])
def test_results_do_not_depend_on_the_segments(seed: int, count: int) -> None:
    entries = random_entries(seed, count)
    whole = index_of(*entries)
    other = index_of(*reversed(entries), batch=count // 2 - 3)
    assert len(whole.snapshot.parts) == 1
    assert len(other.snapshot.parts) > 1
    assert results(other) == results(whole)


@pytest.mark.parametrize("seed", range(4))
def test_an_index_after_changes_answers_as_a_new_one(seed: int) -> None:
    """Entries that were removed, replaced, or moved out of a scope change nothing, before they are merged away."""
    random, changes = Random(seed), dict[str, Change]()
    index = ImpactIndex(inline, sizes=(2, 6))
    for seq in range(12):
        batch = [evolve(change, lists=(random.choice(["red", "blue"]),)) for change in changes_of(random, seq)]
        run_sync(index.apply(batch))
        changes |= {change.mcp_id: change for change in batch}
        rebuilt = index_of_changes([change for change in changes.values() if change.analysed])
        assert len(index) == len(rebuilt)
        scope = frozenset({"red"}) if (seq + seed) % 2 else None
        assert results(index, scope) == results(rebuilt, scope)


def test_a_merged_segment_is_that_of_its_live_documents() -> None:
    index = filled()
    parts = [(part.segment, part.live) for part in index.snapshot.parts]
    found, expected = Segment.merge(parts), Segment.merge([(Segment.merge(parts), np.ones(len(index), bool))])
    for name, column in expected.columns().items():
        assert np.array_equal(found.columns()[name], column), name
    assert len(found) == len(index) == int(sum(live.sum() for _, live in parts))
    assert (found.strings[1:] > found.strings[:-1]).all()
    assert found.counts.min(initial=9, where=np.arange(len(found.counts)) < len(found.strings)) > 0


def test_strings_that_are_longer_than_the_table_are_told_apart() -> None:
    one, other = "x" * 60 + "a", "x" * 60 + "b"
    index = index_of(make_entry("org.example/a", one), make_entry("org.example/b", other), *OTHERS)
    assert [hit.name for hit in search(index, f"{one} ").hits] == ["org.example/a"]
    assert index.snapshot.view(None).frequencies([one, other, "x" * 60]) == [1, 1, 0]


@pytest.mark.parametrize(
    ("word", "typed", "count"),
    [("x" * 31 + "æ" * 12, "xxxx", 1), ("नमस्कार" * 4, "नमस", 1), ("x" * 47, "x" * 48, 0), ("x" * 48, "x" * 60, 0)],
)
def test_long_strings_are_completed_and_cut_between_characters(word: str, typed: str, count: int) -> None:
    index = index_of(make_entry("org.example/zz", word), *OTHERS)
    completions = index.snapshot.view(None).completions(typed, 9)
    assert [*completions.values()] == [1] * count
    assert len(search(index, typed).hits) >= count


def test_segments_are_few_and_empty_ones_are_dropped() -> None:
    index = ImpactIndex(inline, sizes=(2, 8))
    for number in range(200):
        run_sync(index.apply(additions(make_entry(f"org.example/{number}", "letters"))))
        assert len(index.snapshot.parts) <= 5
    sizes = [len(part.segment) for part in index.snapshot.parts]
    assert sizes == sorted(sizes, reverse=True)
    for number in range(200):
        run_sync(index.apply(removals(f"org.example/{number}")))
    assert (len(index), len(index.snapshot.parts)) == (0, 0)


def test_a_load_ends_with_one_segment() -> None:
    index = index_of(*random_entries(1, 300), batch=7)
    assert len(index.snapshot.parts) > 1
    before = results(index)
    run_sync(index.apply([]))
    assert len(index.snapshot.parts) == 1
    assert results(index) == before


def test_an_entry_is_searchable_at_once_and_gone_at_once() -> None:
    index, words = index_of(*OTHERS), ["quokka", "zither", "harpsichord", "dulcimer"]
    for word in words:
        run_sync(index.apply(additions(make_entry("org.example/changing", word))))
        assert [other for other in words if len(search(index, other).hits)] == [word]
    run_sync(index.apply(removals("org.example/changing")))
    assert len(search(index, words[-1]).hits) == 0
    assert index.hits([make_entry("org.example/changing").mcp_id]) == {}


@pytest.fixture(scope="module")
def lists() -> ImpactIndex:
    """Return an index in which some entries are in the lists red and blue."""
    texts = {
        "red-calendar": ("Calendars of a team", {"red"}),
        "blue-kalendula": ("Kalendula flowers", {"blue"}),
        "both-mail": ("Mail of a team", {"red", "blue"}),
        "none-calendar": ("Calendars, calendarium and mail of all teams", set()),
    }
    changes = additions(*(make_entry(f"org.example/{name}", text) for name, (text, _) in texts.items()), *OTHERS)
    listed = [names for _, names in texts.values()]
    changes = [evolve(change, lists=tuple(sorted(listed[n])) if n < 4 else ()) for n, change in enumerate(changes)]
    return index_of_changes(changes, batch=2)


RED, BLUE, BOTH = (frozenset(names) for names in ({"red"}, {"blue"}, {"red", "blue"}))


@pytest.mark.parametrize(
    ("scope", "keywords", "names"),
    [
        (RED, "calendar", ["red-calendar"]),
        (RED, "kalendar", ["red-calendar"]),
        (BLUE, "calendar", []),
        (BLUE, "kalen", ["blue-kalendula"]),
        (RED, "kalen", []),
        (BOTH, "team", ["both-mail", "red-calendar"]),
        (RED, "none-calendar ", ["red-calendar"]),
        (RED, "something else", []),
        (frozenset({"green"}), "mail", []),
        (None, "mail", ["both-mail", "none-calendar"]),
    ],
)
def test_a_scope_finds_its_entries_by_its_own_words(
    lists: ImpactIndex, scope: frozenset[str] | None, keywords: str, names: list[str]
) -> None:
    hits = search(lists, keywords, scope=scope).hits
    assert sorted(hit.name.removeprefix("org.example/") for hit in hits) == sorted(names)
    assert len(search(lists, "", scope=scope, browse=True).hits) == {RED: 2, BLUE: 2, BOTH: 3, None: 24}.get(scope, 0)


def test_a_view_of_a_scope_has_only_the_terms_of_its_entries(lists: ImpactIndex) -> None:
    red, every = lists.snapshot.view(RED), lists.snapshot.view(None)
    assert red.frequencies(["calendar", "kalendula", "mail", "els"]) == [1, 0, 1, 0]
    assert every.frequencies(["calendar", "kalendula", "mail"]) == [2, 1, 2]
    assert (red.size, every.size) == (2, 24)
    assert red.completions("cal", 9) == {"calendar": 1}
    assert every.completions("cal", 9) == {"calendar": 2, "calendarium": 1}
    assert red.near("kalendula", 1) == red.near("mael", 2, "\0bare:") == {}
    assert red.near("kalendar", 1) == {"calendar": 1}
    assert red.longer_names("\0short:", 9) == ["\0short:bothmail", "\0short:redcalendar"]
    assert build_plan(parse("kalendula"), red).words == []
    # A view is made once.
    assert lists.snapshot.view(RED) is red


PROGRAM = "from tests.search.test_segments import outcome; print(outcome())"

PHRASES = (
    "Musikstücke abspielen", "cercare ricette di cucina", "приложение для заметок", "データベース管理", "문서를 번역",
    "umbrella for tomorrow in rust", "kalender mials wether", "notes like notion but self-hosted",
)  # fmt: skip


def outcome() -> str:
    """Return what is found in an index, and the plans of queries in several languages, as text."""
    index = index_of(
        *OTHERS, make_entry("org.example/all", "Music play recipe note database translate document weather")
    )
    plans = [plan_of(index, keywords) for keywords in PHRASES]
    return repr((results(filled()), [(plan.words, plan.concepts, plan.names, plan.vector) for plan in plans]))


def test_two_processes_give_the_same_results() -> None:
    path = os.pathsep.join(sys.path)
    found = {
        subprocess.run(
            [sys.executable, "-c", PROGRAM],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": path},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("2", "5")
    }
    assert found == {f"{outcome()}\n"}
