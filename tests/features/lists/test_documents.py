"""Differences of documents, and their digests."""

from __future__ import annotations

from typing import Any

from directory_server.domain.entries import OFFICIAL, Entry
from directory_server.features.lists.documents import MAX_DIFFERENCES, approval_of, differences, digest_of
from directory_server.serialization import encode_entry


def entry(**values: Any) -> Entry:
    return Entry({"name": "x/y", "version": "1", **values})


def paths(before: Entry, after: Entry) -> list[tuple[str, str, str]]:
    return [(each.path, each.before, each.after) for each in differences(approval_of(before, 0.0).document, after)]


def test_values_are_compared_by_path() -> None:
    before = entry(packages=[{"identifier": "a", "env": []}], title="Mail", flag=True)
    after = entry(packages=[{"identifier": "b\u202e\n", "env": []}], flag=False, more={"deep": None})
    assert paths(before, after) == [
        ("flag", "True", "False"),
        ("more.deep", "", "None"),
        ("packages[0].identifier", "a", "b"),
        ("title", "Mail", ""),
    ]
    assert paths(before, before) == []


def test_large_and_deep_documents_are_bounded() -> None:
    many = entry(tags=[str(number) for number in range(5_000)])
    assert len(paths(entry(), many)) == MAX_DIFFERENCES + 1
    # A difference after the last value that is compared is one of the rest.
    assert [path for path, _, _ in paths(many, entry(tags=["other", *many.server["tags"][1:]]))] == ["…"]
    deep: Any = "end"
    for _ in range(100):
        deep = [deep]
    assert len(paths(entry(deep=deep), entry(deep=[deep]))) == 1


def test_the_digest_is_of_what_the_publisher_wrote() -> None:
    first, dated = entry(), Entry(entry().server, {OFFICIAL: {"updatedAt": "2026-01-01"}}, is_official=True)
    assert digest_of(encode_entry(first)) == digest_of(encode_entry(dated)) == approval_of(dated, 1.0).digest
    assert digest_of(encode_entry(entry(title="Mail"))) != digest_of(encode_entry(first))
