"""Percolation: the queries that an entry matches."""

from __future__ import annotations

import string

import pytest
from attrs import evolve
from hypothesis import example, given
from hypothesis import strategies as st

from directory_server.domain.changes import Change
from directory_server.domain.checks import IndexedVerification, VerifiedStatus
from directory_server.domain.entries import PUBLISHER, Entry
from directory_server.domain.tools import OfferedTool
from directory_server.search import percolate
from directory_server.search.text.analysis import stem
from directory_server.serialization import encode_indexed
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


def test_each_query_is_decided_alone() -> None:
    queries = ["postgres", "postgres transport:http", "postgres -database", '"query database"', "databases", "mysql"]
    assert percolate(change(ENTRY), queries) == {each for each in queries if percolate(change(ENTRY), [each])}
    assert percolate(change(ENTRY), queries) == {"postgres", "databases"}


def test_words_of_checked_tools_match() -> None:
    tools = IndexedVerification(
        VerifiedStatus.WORKS, tools=(OfferedTool("vacuumTable", description="Reclaims storage."),)
    )
    checked = evolve(change(ENTRY), verified=encode_indexed(tools))
    queries = ["vacuum", "reclaim", "status:works", "postgres status:unverified", "postgres vacuum"]
    assert percolate(checked, queries) == {"vacuum", "reclaim", "status:works", "postgres vacuum"}


@given(st.text(st.sampled_from(string.ascii_lowercase + string.digits), min_size=1, max_size=12))
@example("skies")
@example("dying")
@example("lying")
@example("yearly")
def test_the_stem_of_a_word_begins_with_its_first_letter(word: str) -> None:
    assert stem(word)[0] == word[0]
