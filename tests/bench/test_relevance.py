"""Relevance metrics and reports, on lists small enough to calculate by hand."""

from __future__ import annotations

from math import log2
from pathlib import Path

import pytest

from bench.measurement.relevance_metrics import interval, mean, ndcg, recall, recall_bound, reciprocal_rank
from bench.reports.relevance_report import comparison, load, save, verdict

GRADES = {"best": 3, "good": 2, "related": 1}


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
