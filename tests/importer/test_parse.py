"""Parsing: JSON Lines line by line, or one JSON document."""

from __future__ import annotations

import gzip
import json
import tracemalloc
from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from directory_server.importer import Document
from directory_server.importer._chunks import text
from directory_server.importer._documents import parse

LIMIT = 100_000

Found = list[tuple[int | None, Any]]


def chunks(content: bytes, size: int) -> list[bytes]:
    return [content[at : at + size] for at in range(0, len(content), size)]


def read(content: bytes | str, *, size: int = 1 << 16, limit: int = LIMIT, document: int = LIMIT) -> list[Document]:
    raw = content.encode() if isinstance(content, str) else content
    return list(parse("file", text(chunks(raw, size)), max_entry=limit, max_document=document))


def found(content: bytes | str, **options: int) -> Found:
    """Return line and value of each entry, None for invalid JSON and errors."""
    return [(document.line, value(document)) for document in read(content, **options)]


def value(document: Document) -> Any:
    try:
        return None if document.error else json.loads(document.body)
    except ValueError:
        return None


TEXTS = st.text(st.sampled_from('ab"\\{}[],:\n\r\t /é文\U0001f600\u2028'), max_size=12) | st.just("servers")
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 10**6) | st.floats(-1, 1) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
# An object that has a list under "servers" is a page, not an entry.
ENTRIES = st.lists(
    st.dictionaries(TEXTS, VALUES, max_size=4).filter(lambda entry: not isinstance(entry.get("servers"), list)),
    max_size=6,
)


@st.composite
def files(draw: st.DrawFn) -> tuple[bytes, Found]:
    """Return a file in one of the forms, and the lines and values of its entries."""
    entries = draw(ENTRIES)
    blank = st.sampled_from(["", " ", "\n", "\r\n", "\n\n  ", "\t"])
    ascii_only = draw(st.booleans())
    form = draw(st.sampled_from(["lines", "array", "page"]))
    content = draw(blank)
    if form == "lines":
        expected: Found = []
        for entry in entries:
            expected.append((content.count("\n") + 1, entry))
            content += json.dumps(entry, ensure_ascii=ascii_only) + draw(st.sampled_from(["\n", "\r\n", "\n\n", " \n"]))
    else:
        metadata = {"nextCursor": 'servers": [', "count": 1}
        outer: Any = entries
        if form == "page":
            outer = draw(st.sampled_from([{"servers": entries, "m": metadata}, {"m": metadata, "servers": entries}]))
        expected = [(content.count("\n") + 1, entry) for entry in entries]
        indent = draw(st.sampled_from([None, 0, 1, "\t"]))
        content += json.dumps(outer, ensure_ascii=ascii_only, indent=indent) + draw(blank)
    raw = content.encode("utf-8-sig" if draw(st.booleans()) else "utf-8")
    return (gzip.compress(raw) if draw(st.booleans()) else raw), expected


@settings(deadline=None, derandomize=True, max_examples=60)
@given(files(), st.integers(1, 200))
def test_every_form_in_chunks_of_any_size_is_read(file: tuple[bytes, Found], size: int) -> None:
    raw, expected = file
    documents = read(raw, size=size)
    if documents and documents[-1].error == "The file is empty.":
        documents.pop()
    assert [(document.line, value(document)) for document in documents] == expected


FRAGMENTS = [
    *("{", "}", "[", "]", ",", ":", '"', "\\", "\n", " ", "a", "1", "é"),
    *('"servers":[', '{"a":1}', '{"a":1}\n', '"b"'),
]


@settings(deadline=None, derandomize=True)
@given(
    st.lists(st.sampled_from(FRAGMENTS), min_size=1, max_size=40).map("".join),
    st.integers(1, 7),
    st.sampled_from([8, LIMIT]),
)
def test_chunk_size_makes_no_difference(content: str, size: int, limit: int) -> None:
    documents = read(content, limit=limit)
    assert read(content, size=size, limit=limit) == documents
    if documents and documents[0].error == "The file is empty.":
        assert not content.strip()
        return
    assert all(1 <= (document.line or 1) <= content.count("\n") + 1 for document in documents)
    assert all(document.final == (document.line is None) for document in documents)
    assert all(len(document.body) <= limit for document in documents)
    assert all(bool(document.body) != bool(document.error) for document in documents)


A, B = {"name": "a"}, {"name": "b"}
VALID_A, VALID_B = json.dumps(A), json.dumps(B)


@pytest.mark.parametrize(
    "broken",
    [
        '{"server": {"name": "cut in a string',
        '{"server": {"tags": ["a", "b"',
        '{"name": "a"}}',
        '{"name": "a quote is "missing"}',
        '{"name": "a\\',
        "oops",
        "ame: truncated at the start}",
        '"name": "a"',
    ],
)
def test_broken_line_is_rejected_alone(broken: str) -> None:
    for lines, number in (
        ([broken, VALID_A, VALID_B], 1),
        ([VALID_A, broken, VALID_B], 2),
        ([VALID_A, VALID_B, broken], 3),
    ):
        values = [A, B]
        values.insert(number - 1, None)  # type: ignore[arg-type]
        for end, size in product(("\n", "\r\n"), (1, 1 << 16)):
            assert found(end.join(lines), size=size) == list(enumerate(values, 1))
            assert found(end.join(lines) + end, size=size) == list(enumerate(values, 1))


def test_consecutive_broken_lines_are_rejected_one_by_one() -> None:
    assert found(f'oops\nnope\n{{"a": "\n{{"a": "\n{VALID_A}\n') == [(1, None), (2, None), (3, None), (4, None), (5, A)]
    cuts = ['{"a":', '{"a": [', '{"a": 1,', '{"a": "b"', '{"a": "b'] * 3
    assert found("\n".join([*cuts, VALID_A, *cuts, VALID_B])) == [
        *((number, None) for number in range(1, 16)), (16, A),
        *((number, None) for number in range(17, 32)), (32, B),
    ]  # fmt: skip


def test_values_that_are_not_objects_are_passed_on() -> None:
    assert found(f'1\n{VALID_A}\n"text"\nnull') == [(1, 1), (2, A), (3, "text"), (4, None)]
    assert found(f'[1, {VALID_A},\n"a, [text", [2], null]') == [(1, 1), (1, A), (1, "a, [text"), (1, [2]), (1, None)]


@pytest.mark.parametrize("opening", ["[", '{"servers": ['])
@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        ('{"a": "not\nclosed"}', "line 2 column"),
        ('{"a": [1}', "line 2 column"),
        ("{}\n{}", "line 3 column"),
        ("}", "line 2 column"),
        ('{"a": 1,}', "line 2 column"),
        ("oops", "line 2 column"),
        ("", "line 2 column"),
    ],
)
def test_broken_document_is_one_error_with_the_line(opening: str, broken: str, reason: str) -> None:
    [error] = read(f"{opening}{VALID_A},\n{broken}, {VALID_B}]", size=3)
    assert (error.line, error.final) == (None, True)
    assert error.error.startswith("The file is not JSON: ")
    assert reason in error.error
    assert error.error.endswith("A file holds one JSON document, or JSON Lines with one entry per line.")


def test_places_of_entries_in_arrays_and_pages() -> None:
    assert [document.json_path for document in read(f"[{VALID_A},\n{VALID_B}]")] == ["[0]", "[1]"]
    assert [document.json_path for document in read(f'{{"servers": [{VALID_A}, {VALID_B}]}}')] == [
        "servers[0]",
        "servers[1]",
    ]
    assert [document.json_path for document in read(f"{VALID_A}\n{VALID_B}")] == ["", ""]


def test_object_over_several_lines_is_one_entry() -> None:
    content = json.dumps(A, indent=2)
    for size in (1, 2, 1 << 16):
        assert found(f"\n{content}\n", size=size) == [(2, A)]
        assert [document.final for document in read(f"{content}\n{content}", size=size)] == [True]


def test_lines_may_be_pages_and_arrays() -> None:
    page = f'{{"servers": [{VALID_A}], "metadata": {{}}}}'
    assert found(f"{page}\n{page}\n[{VALID_B}]\n{VALID_B}") == [(1, A), (2, A), (3, B), (4, B)]


def test_page_needs_a_list_under_servers_in_the_outermost_object() -> None:
    for entry in ({"name": "x", "_meta": {"servers": [1]}}, {"servers": {"a": [1]}}, {"a": "servers", "b": [1]}):
        assert found(json.dumps(entry)) == [(1, entry)]
    assert found('{"x\\"servers": [1]}') == [(1, {'x"servers': [1]})]


def test_files_with_byte_order_marks_may_be_concatenated() -> None:
    assert found(f"\ufeff{VALID_A}\n\ufeff{VALID_B}\n\ufeff[{VALID_A}]") == [(1, A), (2, B), (3, A)]


@pytest.mark.parametrize("size", [1, 7, 1 << 16])
def test_entry_over_the_limit_is_rejected_alone(size: int) -> None:
    big = json.dumps({"name": "[" * 60, "list": [{}] * 9})
    fits = json.dumps({"name": "a" * 88})
    compact = json.dumps({"name": "a" * 88}, separators=(",", ":"))
    assert len(fits) == 100
    assert found(f"{big}\n{fits}", size=size, limit=100) == [(1, None), (2, json.loads(fits))]
    for content in (f"[{big},\n{compact}]", f'{{"servers": [{big},\n{compact}]}}'):
        assert found(content, size=size, limit=100) == [(1, None), (1, json.loads(fits))]
    assert read(big, size=size, limit=100)[0].error == "The entry is larger than 100 bytes."
    assert found(f"{'x' * 200}\n{fits}", size=size, limit=100) == [(1, None), (2, json.loads(fits))]


@pytest.mark.parametrize("size", [1, 7, 1 << 16])
def test_document_over_the_limit_is_rejected(size: int) -> None:
    content = "[\n" + ",\n".join([VALID_A] * 20) + "\n]"
    assert found(content, size=size, document=len(content)) == [(1, A)] * 20
    [error] = read(content, size=size, document=len(content) - 1)
    assert (
        error.error == f"The JSON document is larger than {len(content) - 1} bytes. Use JSON Lines: one entry per line."
    )
    assert error.final


def test_page_may_have_more_metadata_than_an_entry_may_have_bytes() -> None:
    page = f'{{"metadata": {{"a": "{"x" * 500}"}}, "servers": [{VALID_A}]}}'
    for size in (1, 5, 64, 1000):
        assert found(page, size=size, limit=100) == [(1, A)]


@pytest.mark.slow
@pytest.mark.parametrize("opening", ["1\n", '1\n["', '1\n{"servers":[], "a":"', "[\n"])
def test_memory_is_bounded(opening: str) -> None:
    def endless(unit: str) -> Iterator[bytes]:
        yield opening.encode()
        for _ in range(100):
            yield unit.encode() * 300

    tracemalloc.start()
    try:
        for unit in ("[", '"', '{"a":"', " ", "\n", '{"a":{},', "{}\n["):
            tracemalloc.reset_peak()
            for _ in parse("file", endless(unit), max_entry=2_000, max_document=2_000):
                pass
            assert tracemalloc.get_traced_memory()[1] < 80_000, unit
    finally:
        tracemalloc.stop()
