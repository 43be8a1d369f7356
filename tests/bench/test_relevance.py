"""Relevance metrics and reports, on lists small enough to calculate by hand."""

from __future__ import annotations

from math import log2
from pathlib import Path
from random import Random

import pytest

from bench.catalogue.queries import FORMS, KnownItem, known_items, misspelt
from bench.engines.baselines import any_word, baselines
from bench.measurement.relevance_metrics import interval, mean, ndcg, recall, recall_bound, reciprocal_rank
from bench.reports.relevance_report import comparison, load, save, verdict
from directory_server.domain.entries import Entry

GRADES = {"best": 3, "good": 2, "related": 1}


def named(*names: str) -> list[Entry]:
    return [Entry({"name": name, "version": "1.0.0", "description": f"About {name}"}) for name in names]


def test_ndcg_is_one_for_the_judged_order_and_falls_with_it() -> None:
    ideal = 7 + 3 / log2(3) + 1 / 2
    assert ndcg(["best", "good", "related", "other"], GRADES) == 1
    assert ndcg(["other", "best"], GRADES) == pytest.approx(7 / log2(3) / ideal)
    assert ndcg(["related", "good", "best"], GRADES) == pytest.approx((1 + 3 / log2(3) + 7 / 2) / ideal)
    assert ndcg(["other"], GRADES) == ndcg([], GRADES) == ndcg(["best"], {}) == 0


def test_ndcg_ignores_hits_below_its_depth() -> None:
    many = {str(number): 3 for number in range(30)}
    assert ndcg(list(many), many) == ndcg(list(many)[:10], many) == 1
    assert ndcg([*map("other {}".format, range(10)), "1"], many) == 0
    assert ndcg(["1"], many, depth=1) == 1


def test_recall_counts_only_the_best_grade() -> None:
    grades = {**GRADES, "other best": 3}
    assert recall(["good", "related", "best"], grades) == 0.5
    assert recall(["good", "best"], grades, depth=1) == 0
    assert recall(["good"], {"good": 2}) is None


def test_recall_is_bounded_by_its_depth() -> None:
    many = {str(number): 3 for number in range(200)} | {"good": 2}
    assert recall_bound(many) == recall(list(many), many) == 0.25
    assert recall_bound(GRADES) == 1
    assert recall_bound({"good": 2}) is None


def test_reciprocal_rank_is_that_of_the_first_good_hit() -> None:
    assert reciprocal_rank(["other", "related", "good", "best"], GRADES) == pytest.approx(1 / 3)
    assert reciprocal_rank(["best"], GRADES) == 1
    assert reciprocal_rank(["other", "related"], GRADES) == 0


def test_mean_ignores_none() -> None:
    assert mean([0.5, None, 1.0]) == 0.75
    assert mean([None]) is None


def test_interval_is_deterministic_and_contains_the_mean() -> None:
    values = [number / 40 for number in range(41)]
    bounds = interval(values)
    assert bounds is not None
    low, high = bounds
    assert bounds == interval([*values, None])
    assert bounds != interval(values, seed=1)
    # The normal approximation: 1.96 standard errors, the standard deviation being .296.
    assert (low, high) == pytest.approx((0.5 - 0.0906, 0.5 + 0.0906), abs=0.01)


def test_interval_of_equal_values_is_a_point() -> None:
    assert interval([1.0, 1.0, 1.0]) == (1.0, 1.0)
    assert interval([]) is interval([None]) is None


def test_misspelling_is_one_edit_of_the_longest_word() -> None:
    random = Random(7)
    for part in ("home-assistant_mcp", "a-1", "x", "aaa", "11-1"):
        for _ in range(200):
            edited = misspelt(part, random)
            assert edited != part
            assert distance(part, edited) == 1
    assert {misspelt("ab-longest-cd", random)[:3] for _ in range(50)} == {"ab-"}
    assert misspelt("---", random) == "---"


def test_known_items_have_unique_names() -> None:
    entries = named("io.github.a/Same", "io.github.b/same", "io.github.c/longer-name", "com.d/xyz")
    items = list(known_items(entries, 10))
    assert {item.name for item in items} == {"io.github.c/longer-name", "com.d/xyz"}
    assert items == list(known_items(entries[::-1], 10))
    typed = {item.form: item.q for item in items if item.name == "io.github.c/longer-name"}
    assert set(typed) == set(FORMS)
    assert typed["owner_and_part"] == "c longer-name"
    assert typed["cut"] == "longer-n"
    # A name of three characters has no cut form.
    assert {item.form for item in items if item.name == "com.d/xyz"} == set(FORMS) - {"cut"}


def test_known_item_must_be_within_the_first_hits_of_its_form() -> None:
    hits = [f"other {number}" for number in range(9)] + ["meant"]
    assert KnownItem("one_edit", "maent", "meant").found(hits)
    assert not KnownItem("one_edit", "maent", "meant").found(["other 9", *hits])
    assert not KnownItem("part", "meant", "meant").found(hits)


def test_baselines_find_by_substring_and_words() -> None:
    engines = baselines(named("io.github.a/weather", "io.github.b/wether-report", "io.github.c/maps"))
    assert engines["substr"]("WEATHER") == ["io.github.a/weather"]
    assert engines["bm25"]("weath") == ["io.github.a/weather"]
    assert engines["bm25"]("?!") == []


def test_full_text_expressions_quote_the_query() -> None:
    assert any_word('say "Hi" OR') == '"say" OR "hi" OR "or"*'
    assert any_word("...") == ""


def test_comparison_pairs_runs_query_by_query(tmp_path: Path) -> None:
    before = {"set": {"typo": {"a": 0.5, "gone": 1.0}, "old": {"x": 1.0}}}
    save({"ours": before}, tmp_path / "run.json")
    assert load(tmp_path / "run.json") == {"ours": before}
    now = {"set": {"typo": {"a": 0.75, "new": 0.0}, "other": {"b": 1.0}}, "another": {"typo": {"a": 1.0}}}
    text = "\n".join(comparison(before, now, 5))
    assert "typo  1 |   .500  .750   +.250  +.250 +.250   better |      1      0" in text
    assert "typo: a" in text
    assert "new" not in text
    assert text.endswith("no common queries")


def test_changes_of_held_queries_are_hidden() -> None:
    before, now = {"set": {"typo": {"a": 0.5}}}, {"set": {"typo": {"a": 0.75}}}
    assert "typo: a" in "\n".join(comparison(before, now, 5))
    assert "typo: a" not in "\n".join(comparison(before, now, 5, hidden={"set"}))


def test_change_is_within_noise_if_its_interval_contains_zero() -> None:
    assert verdict((0.01, 0.2)) == "better"
    assert verdict((-0.2, -0.01)) == "worse"
    assert verdict((-0.01, 0.2)) == verdict((0.0, 0.2)) == verdict(None) == "within noise"


def test_file_without_a_run_is_rejected_with_a_hint(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text("[]")
    with pytest.raises(SystemExit, match=r"run\.json contains no run .* --json"):
        load(tmp_path / "run.json")


def distance(one: str, other: str) -> int:
    """Return the edit distance of deletions, insertions, substitutions and transpositions (Damerau 1964)."""
    rows = [list(range(len(other) + 1))]
    for i in range(1, len(one) + 1):
        rows.append([i])
        for j in range(1, len(other) + 1):
            replaced = rows[i - 1][j - 1] + (one[i - 1] != other[j - 1])
            least = min(replaced, rows[i - 1][j] + 1, rows[i][j - 1] + 1)
            if i > 1 < j and one[i - 2 : i] == other[j - 2 : j][::-1]:
                least = min(least, rows[i - 2][j - 2] + 1)
            rows[i].append(least)
    return rows[-1][-1]
