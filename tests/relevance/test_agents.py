"""The form of the sets that agents type: `python -m bench.relevance --queries FILE` measures one of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.catalogue.files import read_judged

FOLDER = Path(__file__).parent / "agents"

SIZES = {"agents_8": 120, "agents_9": 120, "long_needs": 30, "vendor_actions": 30}
"""Queries of each set. Those of `agents_9` were read by nobody before the engine was done."""


def test_all_sets_are_known() -> None:
    assert {path.stem for path in FOLDER.glob("*.jsonl")} == {*SIZES}


@pytest.mark.parametrize(("name", "size"), SIZES.items())
def test_each_query_has_grades(name: str, size: int) -> None:
    judged = read_judged(FOLDER / f"{name}.jsonl")
    assert len({query.q for query in judged}) == len(judged) == size
    assert all(query.q.strip() and query.kind for query in judged)
    assert all(query.grades and set(query.grades.values()) <= {1, 2, 3} for query in judged)
