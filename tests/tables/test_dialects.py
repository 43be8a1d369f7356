"""Statements in the SQL of each database."""

from __future__ import annotations

import pytest

from directory_server.tables import Rows, Tables, postgres_statement, sqlite_statement

from ..contract import awaited


def test_parameters_are_numbered_by_their_first_use() -> None:
    statement = "SELECT CAST(:b AS text), x::text, ':' FROM t WHERE a = :a AND b = :b"
    numbered = "SELECT CAST($1 AS text), x::text, ':' FROM t WHERE a = $2 AND b = $1"
    assert postgres_statement(statement) == (numbered, ("b", "a"))


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("SELECT id FROM a ORDER BY id FOR UPDATE SKIP LOCKED", "SELECT id FROM a ORDER BY id"),
        ("SELECT id FROM a FOR KEY SHARE", "SELECT id FROM a"),
        ("id = ANY(ARRAY(SELECT id FROM a FOR UPDATE))", "id IN (SELECT id FROM a)"),
        ("id = ANY(:ids)", "id IN (SELECT value FROM json_each(:ids))"),
        ("id <> ALL(:ids)", "id NOT IN (SELECT value FROM json_each(:ids))"),
        ("greatest(a, least(b, strpos(c, :d)))", "max(a, min(b, instr(c, :d)))"),
        (
            "SELECT a, octet_length(b) FROM input(a text, b bytea) WHERE true",
            "SELECT a, length(b) FROM (SELECT :a AS a, :b AS b) AS input WHERE true",
        ),
        ('lower(label COLLATE "C"), account.ordinal', "lower(label), account.rowid"),
    ],
)
def test_sqlite_has_other_words(statement: str, expected: str) -> None:
    assert sqlite_statement(statement)[0] == expected


@awaited
async def test_both_databases_give_the_same(tables: Tables) -> None:
    lists = "SELECT 1 WHERE 'a' = ANY(:some) AND 'a' <> ALL(:others) AND greatest(1, 3) - least(1, 3) = 2"
    assert [tuple(row) for row in await tables.all(lists, some=["a", "b"], others=[])] == [(1,)]
    assert await tables.one(lists, some=[], others=["b"]) is None
    (text,) = await tables.one("SELECT strpos(lower('ÀB' COLLATE \"C\"), CAST(:part AS text))", part="b")
    assert text == 2
    (seconds,) = await tables.one("SELECT clock_seconds()")
    assert 1.7e9 < seconds < 1e10


@awaited
async def test_input_rows_are_in_order_and_have_all_types(tables: Tables) -> None:
    insert = """
        INSERT INTO target (id, mcp_id, kind, host, body, due_at, texts)
        SELECT id, CAST(:mcp_id AS text), 'remote', '', body, due_at, texts
        FROM input(id text, body bytea, due_at double precision, texts text) WHERE true
        ON CONFLICT (id) DO UPDATE SET body = excluded.body
    """
    first = {"mcp_id": "x", "id": "b", "body": b"\0\xff", "due_at": 1.5, "texts": None}

    def write(rows: Rows) -> None:
        rows.many(insert, [])
        rows.many(insert, [first, {**first, "id": "a", "texts": "t"}])
        rows.many(insert, [{**first, "body": b"new"}])

    await tables.write(write)
    found = await tables.all("SELECT id, mcp_id, body, due_at, texts FROM target ORDER BY id")
    assert [tuple(row) for row in found] == [("a", "x", b"\0\xff", 1.5, "t"), ("b", "x", b"new", 1.5, None)]


@pytest.mark.parametrize("text", ["a\0b", "\ud800"])
@awaited
async def test_texts_that_some_databases_cannot_hold_are_replaced(tables: Tables, text: str) -> None:
    stored = text.replace("\0", "\ufffd").replace("\ud800", "\ufffd" * 3)
    assert tuple(await tables.one("SELECT CAST(:text AS text)", text=text)) == (stored,)
    assert await tables.one("SELECT 1 WHERE 'a' = ANY(:texts)", texts=[text]) is None
    insert = "INSERT INTO unresolved (name) SELECT id FROM input(id text) WHERE true"

    def write(rows: Rows) -> list[str]:
        rows.many(insert, [{"id": text}])
        return [mcp_id for (mcp_id,) in rows.all("SELECT name FROM unresolved")]

    assert await tables.write(write) == [stored]
