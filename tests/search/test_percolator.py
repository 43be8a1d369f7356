"""Percolation: the queries that an entry matches."""

from __future__ import annotations

from attrs import evolve

from directory_server.domain.changes import Change
from directory_server.domain.checks import IndexedVerification, VerifiedStatus
from directory_server.domain.entries import PUBLISHER, Entry
from directory_server.domain.tools import OfferedTool
from directory_server.search import percolate
from directory_server.serialization import encode_indexed
from tests.contract.index import additions, make_entry, notes_of, removals

ENTRY = make_entry(
    "io.github.example/postgres-mcp",
    "Queries a Postgres database; 查询数据库。",
    title="PostgreSQL for HomeAssistant",
    packages=[{"registryType": "npm", "identifier": "x", "transport": {"type": "stdio"}}],
    _meta={PUBLISHER: {"tags": ["Monitoring"], "tools": [{"name": "explainPlan", "description": "Explains."}]}},
)


def change(entry: Entry | None) -> Change:
    return additions(entry)[0] if entry else removals(ENTRY.name)[0]


MATCHING = {
    "postgres", "POSTGRES database", "Databases query", "home assistant", "home-assistant", "homeassistant", "数据库",
    "explain plan", "example", "postgres transport:stdio", "tag:monitoring", '"postgres database"', "postgres -mysql",
}  # fmt: skip
OTHERS = {
    "mysql", "postgres mysql", "postg", "posgtres", "postgres transport:http", "tag:other", '"database postgres"',
    "postgres -database", "?!", '""',
}  # fmt: skip


def test_queries_all_of_whose_words_an_entry_has_match() -> None:
    assert percolate(change(ENTRY), [*MATCHING, *OTHERS]) == MATCHING
    assert percolate(change(ENTRY), ["mysql"]) == percolate(change(ENTRY), []) == set()


def test_removed_entry_matches_no_query() -> None:
    assert percolate(change(None), ["postgres"]) == set()


def test_words_of_checked_tools_match() -> None:
    tools = IndexedVerification(
        VerifiedStatus.WORKS, tools=(OfferedTool("vacuumTable", description="Reclaims storage."),)
    )
    checked = evolve(change(ENTRY), notes=notes_of(encode_indexed(tools)))
    queries = ["vacuum", "reclaim", "status:works", "postgres status:unverified", "postgres vacuum"]
    assert percolate(checked, queries) == {"vacuum", "reclaim", "status:works", "postgres vacuum"}
