"""The scanner finds each entry, in whatever form and pieces the text comes, and nothing else."""

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
from directory_server.importer._scanner import Scanner

LIMIT = 100_000

Found = list[tuple[int | None, Any]]


def pieces(whole: bytes, size: int) -> list[bytes]:
    return [whole[at : at + size] for at in range(0, len(whole), size)]


def scan(whole: bytes | str, *, size: int = 1 << 16, limit: int = LIMIT) -> list[Document]:
    raw = whole.encode() if isinstance(whole, str) else whole
    return list(Scanner("file", text(pieces(raw, size)), limit))


def found(whole: bytes | str, **options: int) -> Found:
    """Return line and value of each entry, None for a value that is no JSON or was refused."""
    return [(document.line, value(document)) for document in scan(whole, **options)]


def value(document: Document) -> Any:
    try:
        return None if document.error else json.loads(document.body)
    except ValueError:
        return None


NASTY = st.text(st.sampled_from('ab"\\{}[],:\n\r\t /é文\U0001f600\u2028'), max_size=12) | st.just("servers")
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 10**6) | st.floats(-1, 1) | NASTY,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NASTY, inner, max_size=3),
    max_leaves=8,
)
# An object that has a list under "servers" is a page, not an entry, and may only stand inside one.
ENTRIES = st.lists(
    st.dictionaries(NASTY, VALUES, max_size=4).filter(lambda entry: not isinstance(entry.get("servers"), list)),
    max_size=6,
)


@st.composite
def files(draw: st.DrawFn) -> tuple[bytes, Found]:
    """Return a file in one of the forms, and what is in it."""
    entries = draw(ENTRIES)
    style: dict[str, Any] = {"ensure_ascii": draw(st.booleans()), "indent": draw(st.sampled_from([None, 0, 1, "\t"]))}
    if style["indent"] is None and draw(st.booleans()):
        style["separators"] = (",", ":")
    bodies = [json.dumps(entry, **style) for entry in entries]
    blank = st.sampled_from(["", " ", "\n", "\r\n", "\n\n  ", "\t"])
    form = draw(st.sampled_from(["values", "list", "page"]))
    if form == "values":
        before, after = draw(blank), draw(blank)
        between = draw(st.sampled_from(["\n", "\r\n", "\n\n", " ", ""]))
    else:
        before, between, after = f"[{draw(blank)}", f"{draw(blank)},{draw(blank)}", f"{draw(blank)}]"
    if form == "page":
        metadata = '"metadata": {"nextCursor": "servers\\": [", "count": 1}'
        key = f'"servers"{draw(blank)}:{draw(blank)}'
        if draw(st.booleans()):
            before, after = f"{{ {metadata},{draw(blank)}{key}{before}", f"{after}{draw(blank)}}}\n"
        else:
            before, after = f"{{{draw(blank)}{key}{before}", f"{after},\n{metadata} }}"
    whole = before
    expected: Found = []
    for number, (entry, body) in enumerate(zip(entries, bodies, strict=True)):
        whole += between if number else ""
        expected.append((whole.count("\n") + 1, entry))
        whole += body
    whole += after
    raw = whole.encode("utf-8-sig" if draw(st.booleans()) else "utf-8")
    return (gzip.compress(raw) if draw(st.booleans()) else raw), expected


@settings(deadline=None, derandomize=True)
@given(files(), st.integers(1, 200))
def test_every_form_in_pieces_of_any_size_reads_back_the_same(file: tuple[bytes, Found], size: int) -> None:
    raw, expected = file
    documents = scan(raw, size=size)
    if documents and documents[-1].error == "The file is empty.":
        documents.pop()
    assert [(document.line, value(document)) for document in documents] == expected


SCRAPS = [
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    '"',
    "\\",
    "\n",
    " ",
    "a",
    "1",
    "é",
    '"servers":[',
    '{"a":1}',
    '{"a":1}\n',
    '"b"',
]


@settings(deadline=None, derandomize=True)
@given(
    st.lists(st.sampled_from(SCRAPS), min_size=1, max_size=40).map("".join),
    st.integers(1, 7),
    st.sampled_from([8, LIMIT]),
)
def test_whatever_the_text_it_ends_and_its_pieces_make_no_difference(whole: str, size: int, limit: int) -> None:
    documents = scan(whole, limit=limit)
    assert scan(whole, size=size, limit=limit) == documents
    if documents and documents[0].error == "The file is empty.":
        assert not whole.strip()
        return
    assert all(1 <= (document.line or 0) <= whole.count("\n") + 1 for document in documents)
    assert all(len(document.body) <= limit for document in documents)
    assert all(bool(document.body) != bool(document.error) for document in documents)


A, B = {"name": "a"}, {"name": "b"}
GOOD_A, GOOD_B = json.dumps(A), json.dumps(B)


@pytest.mark.parametrize(
    "broken",
    [
        '{"server": {"name": "cut in a string',
        '{"server": {"name": "cut behind a string"',
        '{"server": {"name":',
        '{"server": {',
        '{"server": {"tags": ["a", "b"',
        '{"server": {"tags": [1, 2',
        '{"server": {"name": "a"}',
        '{"name": "a"}}',
        '{"name": "a"},',
        '{"name": "a"]',
        '{"name": [}',
        '{"name": "a quote is "missing"}',
        '{"name": "a quote is missing}',
        '{"name" "a"}',
        '{"name": "a\\',
        "oops",
        "ame: cut at the beginning}",
        "}",
        "# a comment",
        '"name": "a"',
    ],
)
def test_a_broken_line_is_refused_alone(broken: str) -> None:
    for lines, bad in (
        ([broken, GOOD_A, GOOD_B], 1),
        ([GOOD_A, broken, GOOD_B], 2),
        ([GOOD_A, GOOD_B, broken], 3),
    ):
        values = [A, B]
        values.insert(bad - 1, None)  # type: ignore[arg-type]
        for end, size in product(("\n", "\r\n"), (1, 1 << 16)):
            assert found(end.join(lines), size=size) == list(enumerate(values, 1))
            assert found(end.join(lines) + end, size=size) == list(enumerate(values, 1))


def test_broken_lines_one_behind_the_other_are_refused_one_by_one() -> None:
    assert found(f'oops\nnope\n{{"a": "\n{{"a": "\n{GOOD_A}\n') == [(1, None), (2, None), (3, None), (4, None), (5, A)]


def test_values_that_are_no_objects_are_passed_on_for_their_refusal() -> None:
    assert found(f'1\n{GOOD_A}\n"text"\nnull') == [(1, 1), (2, A), (3, "text"), (4, None)]
    assert found(f'[1, {GOOD_A},\n"a, [text", [2], null]') == [(1, 1), (1, A), (2, "a, [text"), (2, [2]), (2, None)]


def test_an_object_over_many_lines_that_is_broken_is_refused_once() -> None:
    broken = '{\n  "x": [\n    {}\n  ],\n  "y": "not\n  closed"\n}'
    whole = f"{json.dumps(A, indent=2)}\n{broken}\n{json.dumps(B, indent=2)}"
    for size in (1, 2, 1 << 16):
        assert found(whole, size=size) == [(1, A), (4, None), (11, B)]


@pytest.mark.parametrize("opening", ["[", '{"servers": ['])
def test_behind_a_break_in_a_list_nothing_is_read(opening: str) -> None:
    for broken, reason in (
        ('{"a": "not\nclosed"}', "line 2: a string is not closed in its line."),
        ('{"a": [1}', "line 2: '}' stands where ']' is due."),
        ("{}\n{}", "line 3: '{' follows where a comma or ']' is due."),
        ("}", "line 2: '}' stands where ']' is due."),
    ):
        first, second = scan(f"{opening}{GOOD_A},\n{broken}, {GOOD_B}]\n{GOOD_B}", size=3)
        assert (first.line, json.loads(first.body)) == (1, A)
        assert (second.line, second.error) == (2, f"The JSON breaks off in {reason} The rest of the file is not read.")


@pytest.mark.parametrize("opening", ["[", '{"servers": ['])
@pytest.mark.parametrize("rest", ['{"a": ', '{"a": "', '"a\\', "", '"a"', "1"])
def test_a_list_that_is_cut_short_gives_what_it_has(opening: str, rest: str) -> None:
    first, second = scan(f"{opening}{GOOD_A},\n{rest}", size=3)
    assert (first.line, json.loads(first.body)) == (1, A)
    assert second.line == 2
    assert second.error.startswith("The JSON breaks off in line 2: the file ends")


def test_an_entry_of_a_list_that_is_wrong_within_its_brackets_is_refused_alone() -> None:
    assert found(f'[{GOOD_A}, {{"a": 1,}}, {{oops}}, oops, {GOOD_B}]') == [
        (1, A), (1, None), (1, None), (1, None), (1, B),
    ]  # fmt: skip


def test_commas_without_entries_are_refused() -> None:
    assert found(f"[{GOOD_A},]") == [(1, A), (1, None)]
    assert found(f"[,{GOOD_A}]") == [(1, None), (1, A)]
    assert scan("[,]")[0].error == "There is no entry beside the comma."


def test_a_page_that_ends_in_its_metadata_gives_its_entries_first() -> None:
    documents = scan(f'{{"servers": [{GOOD_A}],\n"metadata": {{"count"')
    assert [document.error for document in documents] == [
        "",
        "The JSON breaks off in line 2: the file ends before it does.",
    ]
    broken = scan(f'{{"servers": [{GOOD_A}],\n"metadata": {{]\n{GOOD_B}')
    assert [(document.line, bool(document.error)) for document in broken] == [(1, False), (1, True)]


def test_pages_one_behind_the_other_are_read() -> None:
    page = f'{{"servers": [{GOOD_A}], "metadata": {{}}}}'
    assert found(f"{page}\n{page}\n[{GOOD_B}]{GOOD_B}") == [(1, A), (2, A), (3, B), (3, B)]


def test_servers_makes_a_page_only_as_a_member_of_the_outermost_object_with_a_list() -> None:
    for entry in ({"name": "x", "_meta": {"servers": [1]}}, {"servers": {"a": [1]}}, {"a": "servers", "b": [1]}):
        assert found(json.dumps(entry)) == [(1, entry)]
    assert found('{"x\\"servers": [1]}') == [(1, {'x"servers': [1]})]


def test_files_with_byte_order_marks_may_be_concatenated() -> None:
    assert found(f"\ufeff{GOOD_A}\ufeff{GOOD_B}\n\ufeff[{GOOD_A}]") == [(1, A), (1, B), (2, A)]


@pytest.mark.parametrize("size", [1, 7, 1 << 16])
def test_an_entry_over_the_limit_is_passed_over(size: int) -> None:
    big = json.dumps({"name": "[" * 60, "list": [{}] * 9})
    fits = json.dumps({"name": "a" * 88})
    assert len(fits) == 100
    for whole in (f"{big}\n{fits}", f"[{big},\n{fits}]", f'{{"servers": [{big},\n{fits}]}}'):
        assert found(whole, size=size, limit=100) == [(1, None), (2, json.loads(fits))]
    assert scan(big, size=size, limit=100)[0].error == "The entry is larger than 100 bytes."
    assert found(f"{'x' * 200}\n{fits}", size=size, limit=100) == [(1, None), (2, json.loads(fits))]


def test_a_page_may_have_more_metadata_than_an_entry_may_have_bytes() -> None:
    page = f'{{"metadata": {{"a": "{"x" * 500}"}}, "servers": [{GOOD_A}]}}'
    for size in (1, 5, 64, 1000):
        assert found(page, size=size, limit=100) == [(1, A)]


def test_an_entry_may_nest_as_deep_as_it_likes() -> None:
    deep = '{"a":[' * 400 + "1" + "]}" * 400
    assert found(f"[{deep},\n{GOOD_A}]") == [(1, json.loads(deep)), (2, A)]
    assert found('{"a":[' * 1000 + f"\n{GOOD_A}") == [(1, None), (2, A)]


def test_lines_cut_short_one_behind_the_other_are_refused_one_by_one() -> None:
    cuts = ['{"a":', '{"a": [', '{"a": 1,', '{"a": "b"', '{"a": "b'] * 3
    assert found("\n".join([*cuts, GOOD_A, *cuts, GOOD_B])) == [
        *((number, None) for number in range(1, 16)), (16, A),
        *((number, None) for number in range(17, 32)), (32, B),
    ]  # fmt: skip


def test_an_object_over_more_lines_than_are_read_again_is_refused_once() -> None:
    whole = "{\n" + ' "a": [],\n' * 40 + f' "b": [\n{GOOD_A}\n{GOOD_B}'
    for size in (1, 2, 1 << 16):
        assert found(whole, size=size) == [(1, None), (44, B)]


@pytest.mark.parametrize("opening", ["", "[", "[{", '["', '{"a":"', '{"servers":[], "a":"'])
def test_memory_stays_flat(opening: str) -> None:
    def endless(unit: str) -> Iterator[bytes]:
        yield opening.encode()
        for _ in range(100):
            yield unit.encode() * 300

    tracemalloc.start()
    try:
        for unit in ("[", "{", '{"a":[', '"', '{"a":"', "\\", " ", "x", "\n", '{"a":{},', "{}\n["):
            tracemalloc.reset_peak()
            for _ in Scanner("file", endless(unit), 2_000):
                pass
            assert tracemalloc.get_traced_memory()[1] < 25_000, unit
    finally:
        tracemalloc.stop()
