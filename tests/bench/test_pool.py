"""Pools of candidates, and their grades."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from bench.catalogue.sets import HALVES, GradedQuery, half_of, read_set, write_set
from bench.pool import candidates, facts_of, merge, parse_pool, pool_lines, text_of
from directory_server.domain.entries import PUBLISHER, Entry

QUERY = GradedQuery("tiempo en la montaña", "other_languages", "work", "es", "mountain weather")


def original(q: str) -> Sequence[str]:
    return ["a/both", "a/original", "a/late"] if q == QUERY.query else []


def translated(q: str) -> Sequence[str]:
    return ["a/translated", "a/both"] if q == QUERY.english else []


def test_candidates_are_the_first_hits_of_all_engines() -> None:
    names = candidates(QUERY, [original], [translated], first=2)
    assert sorted(names) == ["a/both", "a/original", "a/translated"]
    english = GradedQuery(QUERY.query, "sentences", "work", "en")
    assert sorted(candidates(english, [original], [translated], first=2)) == ["a/both", "a/original"]


def test_order_of_candidates_is_independent_of_engines_and_ranks() -> None:
    names = [f"a/{number}" for number in range(20)]
    pools = [candidates(QUERY, [lambda q, order=order: order], []) for order in (names, names[::-1])]  # type: ignore[misc]
    assert pools[0] == pools[1]
    assert pools[0] not in (names, names[::-1])
    other = GradedQuery("clima", "other_languages", "work", "es")
    assert candidates(other, [lambda q: names], []) != pools[0]


def test_pool_is_read_as_written() -> None:
    pools = {"one": ["a/x", "b/y z"], "= two": ["c/v"], "none": []}
    texts = {"a/x": "X · does x", "b/y z": "", "c/v": "= 1 · v"}
    lines = list(pool_lines(pools, texts, cut=5))
    assert lines[:2] == ["= one", "1 a/x · X · d"]
    assert parse_pool(lines) == pools


def test_text_of_an_entry_has_no_repetitions_and_one_line() -> None:
    publisher = {"longDescription": "About it.\nAll of it."}
    server = {"name": "a/x", "version": "1", "title": "X", "description": "About it.…", "_meta": {PUBLISHER: publisher}}
    assert text_of(Entry(server)) == "X · About it. All of it."
    assert text_of(Entry({**server, "description": "Brief"})) == "X · Brief · About it. All of it."


def test_facts_of_an_entry_are_those_that_conditions_ask_for() -> None:
    variables = [{"name": "API_KEY", "isSecret": True}, {"name": "REGION"}]
    package = {"registryType": "npm", "environmentVariables": variables}
    remote = {"type": "sse", "headers": [{"name": "Authorization", "isSecret": True}]}
    meta = {PUBLISHER: {"license": "MIT", "language": "Go"}}
    entry = Entry({"name": "a/x", "version": "1", "packages": [package], "remotes": [remote], "_meta": meta})
    assert facts_of(entry) == "[package npm, remote sse, secret API_KEY, secret Authorization, MIT, Go] "
    assert facts_of(Entry({"name": "a/x", "version": "1"})) == "[] "


def test_grades_are_merged_by_number() -> None:
    ungraded = GradedQuery("other", "other_languages", "held", "es")
    pools = {QUERY.query: ["a/x", "b/y", "c/z"], "other": []}
    rows = [{"query": QUERY.query, "3": [2], "1": [3]}]
    graded = merge([QUERY, ungraded], pools, rows)
    assert [(each.query, each.grades) for each in graded] == [(QUERY.query, {"b/y": 3, "c/z": 1})]


@pytest.mark.parametrize(
    "row",
    [
        {"query": "unknown", "3": [1]},
        {"query": QUERY.query, "3": [4]},
        {"query": QUERY.query, "3": [0]},
        {"query": QUERY.query, "4": [1]},
        {"query": QUERY.query, "3": [1], "2": [1]},
    ],
)
def test_grades_of_unknown_candidates_are_rejected(row: dict[str, object]) -> None:
    with pytest.raises(SystemExit, match="grades"):
        merge([QUERY], {QUERY.query: ["a/x", "b/y", "c/z"]}, [row])


def test_set_is_read_as_written(tmp_path: Path) -> None:
    queries = [
        GradedQuery("读取邮件", "cjk", half_of("读取邮件"), "zh", "read mail", {"b/y": 3, "a/x": 1}),
        GradedQuery("mail", "category", half_of("mail"), "en", "", {"b/y": 2}),
    ]
    write_set(tmp_path / "cjk.jsonl", queries)
    assert list(read_set(tmp_path / "cjk.jsonl")) == queries
    assert "读取邮件" in (tmp_path / "cjk.jsonl").read_text("utf-8")


def test_new_query_belongs_to_the_half_of_its_hash(tmp_path: Path) -> None:
    (tmp_path / "new.jsonl").write_text('{"query": "mail", "kind": "category"}\n')
    assert list(read_set(tmp_path / "new.jsonl")) == [GradedQuery("mail", "category", half_of("mail"), "en")]
    halves = [half_of(f"query {number}") for number in range(200)]
    assert set(halves) == set(HALVES)
    assert 80 < halves.count(HALVES[0]) < 120


def test_unknown_field_of_a_query_is_rejected(tmp_path: Path) -> None:
    (tmp_path / "new.jsonl").write_text('{"query": "mail", "kind": "category", "grade": {}}\n')
    with pytest.raises(TypeError, match="grade"):
        read_set(tmp_path / "new.jsonl")
