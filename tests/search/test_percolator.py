"""Percolation: the queries that an entry matches."""

from __future__ import annotations

import pytest

from directory_server.domain.changes import Change
from directory_server.domain.entries import PUBLISHER, Entry
from directory_server.search import percolate
from tests.contract.index import additions, make_entry, removals

ENTRY = make_entry(
    "io.github.example/postgres-mcp",
    "Queries a Postgres database; 查询数据库。",
    title="PostgreSQL for HomeAssistant",
    packages=[{"registryType": "npm", "identifier": "x", "transport": {"type": "stdio"}}],
    _meta={PUBLISHER: {"tags": ["Monitoring"], "tools": [{"name": "explainPlan", "description": "Explains."}]}},
)


def change(entry: Entry | None) -> Change:
    return additions(entry)[0] if entry else removals(ENTRY.name)[0]


@pytest.mark.parametrize(
    "query",
    [
        "postgres",
        "POSTGRES database",
        "Databases query",
        "home assistant",
        "home-assistant",
        "homeassistant",
        "数据库",
        "explain plan",
        "example",
        "postgres transport:stdio",
        "tag:monitoring",
        '"postgres database"',
        "postgres -mysql",
    ],
)
def test_entry_with_all_words_matches(query: str) -> None:
    assert percolate(change(ENTRY), [query]) == {query}


@pytest.mark.parametrize(
    "query",
    [
        "mysql",
        "postgres mysql",
        "postg",
        "posgtres",
        "postgres transport:http",
        "tag:other",
        '"database postgres"',
        "postgres -database",
        "?!",
        '""',
    ],
)
def test_entry_without_one_word_does_not_match(query: str) -> None:
    assert percolate(change(ENTRY), [query]) == set()


def test_only_matching_queries_are_returned() -> None:
    assert percolate(change(ENTRY), ["postgres", "mysql", "database"]) == {"postgres", "database"}


def test_removed_entry_matches_no_query() -> None:
    assert percolate(change(None), ["postgres"]) == set()
