"""Which queries an entry has all the words of."""

from __future__ import annotations

import pytest

from directory_server.domain.changes import Change
from directory_server.domain.entries import PUBLISHER, Entry
from directory_server.search import percolate
from tests.contract.index import added, an_entry, removed

ENTRY = an_entry(
    "io.github.example/postgres-mcp",
    "Queries a Postgres database; 查询数据库。",
    title="PostgreSQL for HomeAssistant",
    packages=[{"registryType": "npm", "identifier": "x", "transport": {"type": "stdio"}}],
    _meta={PUBLISHER: {"tags": ["Monitoring"], "tools": [{"name": "explainPlan", "description": "Explains."}]}},
)


def change(entry: Entry | None) -> Change:
    return added(entry)[0] if entry else removed(ENTRY.name)[0]


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
def test_an_entry_with_all_the_words(query: str) -> None:
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
def test_an_entry_without_one_of_them(query: str) -> None:
    assert percolate(change(ENTRY), [query]) == set()


def test_many_queries_are_told_apart() -> None:
    assert percolate(change(ENTRY), ["postgres", "mysql", "database"]) == {"postgres", "database"}


def test_what_was_removed_has_no_words() -> None:
    assert percolate(change(None), ["postgres"]) == set()
