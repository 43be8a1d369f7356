"""Tools that match a search: those that hits name, the filter `match:tools`, and the search for tools."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from attrs import evolve

from directory_server.domain.checks import IndexedVerification, VerifiedStatus
from directory_server.domain.entries import PUBLISHER, Entry
from directory_server.domain.search import Query
from directory_server.domain.tools import MAX_LINE, MAX_OFFERED, OfferedTool, offered_tool
from directory_server.runtime.run_sync import run_sync
from directory_server.search import ImpactIndex
from directory_server.search.index.facets import facet
from directory_server.search.index.tools import HAS_TOOLS, MAX_BYTES, MAX_TERMS, decode_tools, encode_tools, tool_terms
from directory_server.serialization import encode_indexed
from tests.contract.index import additions, notes_of, removals

from . import all_ids, index_of_changes, search

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
    found = {
        name: encode_indexed(IndexedVerification(VerifiedStatus.WORKS, tools=tuple(tools)))
        for name, tools in verified.items()
    }
    changes = additions(*entries)
    names = [entry.name.rpartition("/")[2] for entry in entries]
    return index_of_changes(
        [evolve(change, notes=notes_of(found.get(name))) for name, change in zip(names, changes, strict=True)]
    )


def named(index: ImpactIndex, keywords: str) -> Sequence[Sequence[str]]:
    return [[tool.name for tool in tools] for tools in search(index, keywords).hits.tools()]


def tools(index: ImpactIndex, keywords: str, limit: int = 10) -> Sequence[str]:
    return [
        f"{found.hit.server_name.partition('/')[2]}:{found.tool.name}"
        for found in run_sync(index.search_tools(Query(keywords, limit)))
    ]


def test_a_hit_names_the_tools_that_match() -> None:
    index = index_of(entry("books", INVOICE, REPORT), entry("ledger", brief="Invoices for customers."))
    page = search(index, "invoice for a customer")
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
    found = search(index, "invoice match:tools").hits
    assert [hit.server_name for hit in found] == ["io.example/desk"]
    every = search(index, "match:tools").hits
    assert {hit.server_name for hit in every} == {"io.example/books", "io.example/desk"}
    assert facet("match", "tools") == HAS_TOOLS


@pytest.mark.parametrize("limit", [1, 2, 5])
def test_pages_of_the_filter_are_contiguous(limit: int) -> None:
    index = index_of(*(entry(f"books{n}", INVOICE, brief=f"Firm {n % 3}.") for n in range(7)))
    whole = [hit.mcp_id for hit in search(index, "invoice match:tools").hits]
    assert all_ids(index, Query("invoice match:tools", limit)) == whole
    assert len(whole) == 7


def test_a_search_for_tools_ranks_them_by_their_own_words() -> None:
    index = index_of(entry("books", REPORT, INVOICE), entry("shop", {"name": "list_orders"}, brief="Invoice, tax."))
    assert tools(index, "create an invoice") == ["books:create_invoice"]
    assert tools(index, "tax", 1) == ["books:tax_report"]
    assert tools(index, "tax runs:local") == []
    assert tools(index, "quokka") == []


def test_removed_entries_have_no_tools() -> None:
    index, books = index_of(entry("books", INVOICE)), entry("books", INVOICE)
    run_sync(index.apply(removals(books.name)))
    assert tools(index, "invoice") == []


def test_stored_tools_are_bounded() -> None:
    long = "\u202eword\n\0" * 50_000
    hostile = [tool for n in range(500) if (tool := offered_tool({"name": f"{n}", "description": long}))]
    stored = encode_tools(hostile)
    assert len(tool_terms(stored).counts) == MAX_OFFERED
    assert len(stored) < MAX_BYTES + MAX_OFFERED * (2 + 4 * MAX_TERMS) + 200
    assert all(len(tool.description) <= MAX_LINE for tool in decode_tools(stored))


def test_the_terms_of_a_tool_are_bounded() -> None:
    words = OfferedTool("a", description=" ".join(f"w{n}" for n in range(130)))
    assert tool_terms(encode_tools([words])).counts.tolist() == [MAX_TERMS]


def test_only_the_first_ten_hits_name_their_tools() -> None:
    index = index_of(*(entry(f"books{n:02}", INVOICE, brief=f"Firm {n}.") for n in range(14)))
    assert [len(tools) for tools in named(index, "invoice")] == [1] * 10 + [0] * 4
