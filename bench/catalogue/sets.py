"""The relevance sets of the project: `tests/relevance/<kind>.jsonl`, one graded query per line.

One half of each set is for work on the ranking. The other half is held back: its queries are looked at only at the end,
so that no constant is fitted to them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import field, frozen

from .files import Judged

SETS = Path(__file__).parents[2] / "tests" / "relevance"
"""The folder of the sets."""

MIXED: Mapping[str, Sequence[str]] = {
    "fresh_3": (
        "cjk_3", "other_languages_3", "sentences_3", "products_3", "capability_3", "category_3", "conditions_3",
    ),
    "fresh_4": (
        "cjk_4", "other_languages_4", "sentences_4", "products_4", "capability_4", "category_4", "conditions_4",
    ),
    "terms_5": ("symbols", "foreign_entries"),
    "fresh_7": (
        "cjk_7", "other_languages_7", "sentences_7", "products_7", "capability_7", "category_7", "conditions_7",
    ),
}  # fmt: skip
"""The kinds of the queries of a set with several kinds, by its name. Other sets have one kind, their name."""

KINDS = (
    "cjk", "other_languages", "cjk_2", "other_languages_2", "english_2",
    "sentences", "products", "capability", "category", "conditions",
    *MIXED["fresh_3"], *MIXED["fresh_4"], *MIXED["terms_5"], *MIXED["fresh_7"], "translated",
)  # fmt: skip
"""Kinds of queries. A kind with the number 2, 3, 4 or 7 was written later, on other topics; those of 4 and 7
are on topics that were in no table of words when they were written.

Those of `symbols` have names such as "C#" and "A/B". Those of `foreign_entries` are English queries for entries that
are described in Chinese, Japanese or Korean only.

`translated` has queries of `fresh_3`, `fresh_4` and `fresh_7` in eight languages, with the grades of the English ones.

`english_2` has sentences, conditions, capabilities and categories."""

NO_ANSWER = "no_answer"
"""The set, and the kind, of queries that no entry answers. They have no grades."""

WORK, HELD = HALVES = ("work", "held")


def half_of(query: str) -> str:
    """Return the half of the set to which `query` belongs: a hash of its text decides."""
    return HALVES[hashlib.sha256(query.encode()).digest()[0] % 2]


@frozen
class GradedQuery:
    """A query of a set, its kind, half and language (BCP 47), and the grades of entries by name: 3 best, 1 least.

    `english` is the translation of a query in another language. It finds candidates to grade, nothing else.
    """

    query: str
    kind: str
    half: str
    language: str
    english: str = ""
    grades: Mapping[str, int] = field(factory=dict)

    @property
    def judged(self) -> Judged:
        return Judged(self.kind, self.query, self.grades)


def decode_query(row: Mapping[str, Any]) -> GradedQuery:
    """Return the query of one line of a set. The half may be absent. Raises TypeError for unknown or absent fields."""
    return GradedQuery(**{"half": half_of(str(row.get("query"))), "language": "en", **row})


def read_set(path: Path) -> Sequence[GradedQuery]:
    """Return the queries of one file."""
    return [decode_query(json.loads(line)) for line in path.read_text("utf-8").splitlines()]


def set_files(folder: Path = SETS) -> Sequence[Path]:
    """Return the files of the sets with grades, ordered by name."""
    return sorted(path for path in folder.glob("*.jsonl") if path.stem != NO_ANSWER)
