"""Tools that match a search: those that hits name, the filter `match:tools`, and the search for tools."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from directory_server.domain.changes import Change
from directory_server.domain.checks import IndexedVerification, VerifiedStatus
from directory_server.domain.entries import PUBLISHER, Entry
from directory_server.domain.search import Query
from directory_server.domain.tools import (
    MAX_LINE,
    MAX_NAME,
    MAX_OFFERED,
    MAX_TAKES,
    OfferedTool,
    first_line,
    offered_tool,
    takes_of,
)
from directory_server.run_sync import inline, run_sync
from directory_server.search import ImpactIndex, TextAnalysis
from directory_server.search.index.facets import facet
from directory_server.search.index.tools import HAS_TOOLS, MAX_BYTES, MAX_TERMS, decode_tools, encode_tools, tool_terms
from directory_server.serialization import encode_entry, encode_indexed, restore_indexed

ANALYSIS = TextAnalysis()

INVOICE = {
    "name": "create_invoice",
    "title": "Create an invoice",
    "description": "Issues an invoice to a customer.",
    "inputSchema": {
        "properties": {"customer": {"type": "string"}, "lines": {"type": "array", "items": {"type": "object"}}},
        "required": ["customer"],
    },
    "annotations": {"readOnlyHint": False, "destructiveHint": True, "other": 1},
}
REPORT = {"name": "tax_report", "description": "Computes the tax of a year."}


def entry(name: str, *tools: Any, brief: str = "Bookkeeping for small firms.") -> Entry:
    meta = {"_meta": {PUBLISHER: {"tools": list(tools)}}} if tools else {}
    return Entry({"name": f"io.example/{name}", "version": "1", "description": brief, **meta})


def index_of(*entries: Entry, **verified: Sequence[OfferedTool]) -> ImpactIndex:
    index = ImpactIndex(inline)
    found = {
        name: encode_indexed(IndexedVerification(VerifiedStatus.WORKS, tools=tuple(tools)))
        for name, tools in verified.items()
    }
    run_sync(
        index.apply(
            [
                Change(seq, "added", e.mcp_id, encode_entry(e), ANALYSIS(e), verified=found.get(e.name.split("/")[1]))
                for seq, e in enumerate(entries, 1)
            ]
        )
    )
    return index


def named(index: ImpactIndex, keywords: str) -> Sequence[Sequence[str]]:
    return [[tool.name for tool in tools] for tools in run_sync(index.search(Query(keywords))).hits.tools()]


def tools(index: ImpactIndex, keywords: str, limit: int = 10) -> Sequence[str]:
    return [
        f"{each.hit.server_name.partition('/')[2]}:{each.tool.name}"
        for each in run_sync(index.search_tools(Query(keywords, limit)))
    ]


def test_a_hit_names_the_tools_that_match() -> None:
    index = index_of(entry("books", INVOICE, REPORT), entry("ledger", brief="Invoices for customers."))
    page = run_sync(index.search(Query("invoice for a customer")))
    assert dict(zip([hit.server_name for hit in page.hits], page.hits.tools(), strict=True)) == {
        "io.example/books": [
            OfferedTool(
                "create_invoice",
                "Create an invoice",
                "Issues an invoice to a customer.",
                "customer: string, lines?: array of object",
                {"readOnlyHint": False, "destructiveHint": True},
            )
        ],
        "io.example/ledger": [],
    }


def test_no_tools_are_named_for_names_and_entries_without_tools() -> None:
    assert named(index_of(entry("books", INVOICE), entry("ledger")), "io.example/books") == []
    assert named(index_of(entry("ledger")), "bookkeeping") == []


def test_tools_that_remotes_list_come_before_those_of_the_publisher() -> None:
    listed = OfferedTool("create_invoice", description="Sends an invoice by mail.", takes="mail: string")
    index = index_of(entry("books", INVOICE, REPORT), books=[listed])
    (found,) = run_sync(index.search_tools(Query("invoice")))
    assert found.tool == listed
    assert tools(index, "tax year") == ["books:tax_report"]


def test_the_filter_searches_tools_only() -> None:
    index = index_of(
        entry("ledger", brief="Invoice, invoices, customer invoices."),
        entry("books", REPORT, brief="Invoice, invoices, customer invoices."),
        entry("desk", INVOICE, brief="Helps an office."),
    )
    found = run_sync(index.search(Query("invoice match:tools"))).hits
    assert [hit.server_name for hit in found] == ["io.example/desk"]
    every = run_sync(index.search(Query("match:tools"))).hits
    assert {hit.server_name for hit in every} == {"io.example/books", "io.example/desk"}
    assert facet("match", "tools") == HAS_TOOLS


@pytest.mark.parametrize("limit", [1, 2, 5])
def test_pages_of_the_filter_are_contiguous(limit: int) -> None:
    index = index_of(*(entry(f"books{n}", INVOICE, brief=f"Firm {n % 3}.") for n in range(7)))
    whole = [hit.mcp_id for hit in run_sync(index.search(Query("invoice match:tools"))).hits]
    found, after = [], None
    while True:
        page = run_sync(index.search(Query("invoice match:tools", limit, after)))
        found += [hit.mcp_id for hit in page.hits]
        if page.next is None:
            break
        after = page.next
    assert found == whole
    assert len(whole) == 7


def test_a_search_for_tools_ranks_them_by_their_own_words() -> None:
    index = index_of(entry("books", REPORT, INVOICE), entry("shop", {"name": "list_orders"}, brief="Invoice, tax."))
    assert tools(index, "create an invoice") == ["books:create_invoice"]
    assert tools(index, "tax", 1) == ["books:tax_report"]
    assert tools(index, "tax runs:local") == []
    assert tools(index, "quokka") == []


def test_removed_entries_have_no_tools() -> None:
    index, books = index_of(entry("books", INVOICE)), entry("books", INVOICE)
    run_sync(index.apply([Change(2, "removed", books.mcp_id, None, None)]))
    assert tools(index, "invoice") == []


@pytest.mark.parametrize(
    "tool", [{}, {"name": 7}, {"name": ""}, {"name": "\u200b"}, {"name": None, "description": "text"}]
)
def test_a_tool_without_a_name_is_none(tool: dict[str, Any]) -> None:
    assert offered_tool(tool) is None


@pytest.mark.parametrize(
    "member",
    [
        {"inputSchema": 7},
        {"inputSchema": {"properties": [1], "required": 7}},
        {"inputSchema": {"properties": {"a": 1, "b": {"type": [1, None]}}}},
        {"annotations": "x"},
        {"annotations": {"readOnlyHint": "yes"}},
        {"title": 7, "description": ["x"]},
    ],
)
def test_members_of_the_wrong_type_are_dropped(member: dict[str, Any]) -> None:
    found = offered_tool({"name": "a", **member})
    assert found is not None
    assert (found.title, found.description, found.hints) == ("", "", {})


def test_texts_of_tools_are_cleaned_and_bounded() -> None:
    long = "\u202eword\n\0" * 50_000
    properties = {f"{long}{n}": {"type": long, "enum": [long] * 9} for n in range(50)}
    found = offered_tool({"name": long, "title": long, "description": long, "inputSchema": {"properties": properties}})
    assert found is not None
    for text in (found.name, found.title, found.description, found.takes):
        assert text.isprintable()
        assert "\u202e" not in text
    assert (len(found.name), len(found.title), len(found.takes)) == (MAX_NAME, MAX_NAME, MAX_TAKES)
    hostile = [evolved for n in range(500) if (evolved := offered_tool({"name": f"{n}", "description": long}))]
    stored = encode_tools(hostile)
    assert len(tool_terms(stored).counts) == MAX_OFFERED
    assert len(stored) < MAX_BYTES + MAX_OFFERED * (2 + 4 * MAX_TERMS) + 200
    assert all(len(tool.description) <= MAX_LINE for tool in decode_tools(stored))


def test_the_terms_of_a_tool_are_bounded() -> None:
    words = OfferedTool("a", description=" ".join(f"w{n}" for n in range(130)))
    assert tool_terms(encode_tools([words])).counts.tolist() == [MAX_TERMS]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("Short.", "Short."),
        (
            "Reads a file from the disk. " + "More words follow here. " * 9,
            "Reads a file from the disk. " + "More words follow here. " * 3 + "More words follow h",
        ),
        ("word " * 60, " ".join(["word"] * 23) + "…"),
        ("x" * 300, "x" * (MAX_LINE - 1) + "…"),
    ],
)
def test_the_line_of_a_tool_ends_with_a_sentence_or_a_word(text: str, line: str) -> None:
    found = first_line(text)
    assert len(found) <= MAX_LINE
    assert text.startswith(found.rstrip("…"))
    assert found.endswith((".", "…"))
    if "sentence" not in text and not line.endswith("h"):
        assert found == line


def test_parameters_are_named_with_their_types() -> None:
    schema = {
        "properties": {"unit": {"enum": ["c", "f"]}, "city": {"type": "string"}, "any": {}},
        "required": ["city", 7],
    }
    assert takes_of(schema) == "unit?: c | f, city: string, any?: any"


def test_tools_stored_before_they_had_titles_are_read() -> None:
    found = restore_indexed(b'{"status":"works","auth":"none","package":"","tools":[["a","Does a."],["b",""]]}')
    assert found.tools == (OfferedTool("a", description="Does a."), OfferedTool("b"))
