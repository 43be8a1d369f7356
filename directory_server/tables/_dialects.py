"""The statements of adapters in the SQL of each database.

A statement is in the SQL that both databases understand, with parameters `:name`, and with these parts in the words of
PostgreSQL, for which SQLite has others:

* `FOR UPDATE`, `FOR KEY SHARE`, `SKIP LOCKED`: nothing in SQLite, whose writing transactions exclude each other;
* `= ANY(:list)`, `<> ALL(:list)`: a parameter with a list of texts;
* `= ANY(ARRAY(SELECT …))`: a sub-select without `))`, which PostgreSQL runs once, before it looks for rows in an index;
* `FROM input(id text, …)`: the rows of `Rows.many`, in their order; in SQLite one at a time;
* `INNER JOIN`: a join whose tables SQLite reads in this order;
* `record.written`, the order of writing, which is the id in SQLite, `change.mark`, which SQLite lacks, and
  `stored_analysis` and `stored_analysis_size` of a record, for the version `:analysis`;
* `greatest` and `least`: of values that are not NULL, since only PostgreSQL ignores NULL;
* `strpos`, `octet_length`, `COLLATE "C"`, `clock_seconds()` (seconds since the epoch), and `ordinal`, the order of
  insertion.

Types are written as CAST(:name AS type), where PostgreSQL cannot infer them.
"""

from __future__ import annotations

import re
from functools import cache

from attrs import frozen

from ..domain.entries import storable

_PARAMETER = re.compile(r"(?<![:\w]):(\w+)")

_CLOCK = "clock_seconds()"

_POSTGRES_CLOCK = "CAST(extract(epoch FROM statement_timestamp()) AS double precision)"

_ANALYSED = "FROM analysed WHERE analysed.fingerprint = record.fingerprint AND analysed.version = :analysis"

_POSTGRES = (
    (re.compile(re.escape(_CLOCK)), _POSTGRES_CLOCK),
    (re.compile(r"\bstored_analysis\b"), f"(SELECT analysed.body {_ANALYSED})"),
    (re.compile(r"\bstored_analysis_size\b"), f"(SELECT octet_length(analysed.body) {_ANALYSED})"),
)
"""Patterns of the parts, and what PostgreSQL has in their place."""

_SQLITE = (
    (re.compile(r"\s+FOR (?:UPDATE|KEY SHARE)(?: SKIP LOCKED)?\b"), ""),
    (re.compile(r"= ANY\(ARRAY\((.*?)\)\)", re.DOTALL), r"IN (\1)"),
    (re.compile(r"= ANY\(:(\w+)\)"), r"IN (SELECT value FROM json_each(:\1))"),
    (re.compile(r"<> ALL\(:(\w+)\)"), r"NOT IN (SELECT value FROM json_each(:\1))"),
    (re.compile(r"\bINNER JOIN\b"), "CROSS JOIN"),
    (re.compile(r"\brecord\.written\b"), "record.id"),
    (re.compile(r"\bwritten = excluded\.written\b"), "id = excluded.id, analysis = NULL, analysed = NULL"),
    (re.compile(r"\bchange\.mark\b"), "NULL"),
    (re.compile(r"\bstored_analysis\b"), "CASE WHEN record.analysis = :analysis THEN record.analysed END"),
    (
        re.compile(r"\bstored_analysis_size\b"),
        "CASE WHEN record.analysis = :analysis THEN length(record.analysed) END",
    ),
    (re.compile(r"\bstrpos\("), "instr("),
    (re.compile(r"\boctet_length\("), "length("),
    (re.compile(r"\bgreatest\("), "max("),
    (re.compile(r"\bleast\("), "min("),
    (re.compile(r"\bordinal\b"), "rowid"),
    (re.compile(r' COLLATE "C"'), ""),
    (re.compile(re.escape(_CLOCK)), "((julianday('now') - 2440587.5) * 86400.0)"),
)
"""Patterns of the parts, and what SQLite has in their place."""

_LISTS = re.compile(r"(?:ANY|ALL)\(:(\w+)\)")

_INPUT = re.compile(r"\bFROM input\(([^)]+)\)")


@cache
def sqlite_statement(statement: str) -> tuple[str, frozenset[str]]:
    """Return `statement` for SQLite, and the names of the parameters that are JSON arrays there."""
    lists = frozenset(_LISTS.findall(statement))
    statement = _INPUT.sub(_input_row, statement)
    for pattern, replacement in _SQLITE:
        statement = pattern.sub(replacement, statement)
    return statement, lists


@cache
def postgres_statement(statement: str) -> tuple[str, tuple[str, ...]]:
    """Return `statement` for PostgreSQL, with parameters `$1`, `$2` …, and the names of these."""
    numbers: dict[str, int] = {}
    statement = _INPUT.sub(_input_arrays, statement)
    for pattern, replacement in _POSTGRES:
        statement = pattern.sub(replacement, statement)
    numbered = _PARAMETER.sub(lambda match: f"${numbers.setdefault(match[1], len(numbers) + 1)}", statement)
    return numbered, tuple(numbers)


def storable_value(value: object) -> object:
    """Return `value`, a parameter of a statement, with texts that every database can hold; also those of a list."""
    if isinstance(value, str):
        return storable(value)
    return [*map(storable_value, value)] if isinstance(value, list | tuple) else value


@cache
def input_columns(statement: str) -> tuple[str, ...]:
    """Return the names of the columns that `statement` has of `input`; none if it has no such part."""
    match = _INPUT.search(statement)
    return tuple(name for name, _ in _columns(match)) if match else ()


def _columns(match: re.Match[str]) -> list[tuple[str, str]]:
    """Return the names and types of the columns of `input`."""
    columns = (column.strip().partition(" ") for column in match[1].split(","))
    return [(name, kind) for name, _, kind in columns]


def _input_row(match: re.Match[str]) -> str:
    return f"FROM (SELECT {', '.join(f':{name} AS {name}' for name, _ in _columns(match))}) AS input"


def _input_arrays(match: re.Match[str]) -> str:
    columns = _columns(match)
    names = ", ".join(name for name, _ in columns)
    arrays = ", ".join(f"CAST(:{name} AS {kind}[])" for name, kind in columns)
    listed = f"unnest({arrays}) WITH ORDINALITY AS listed ({names}, position)"
    return f"FROM (SELECT {names} FROM {listed} ORDER BY position) AS input"


@frozen
class Engine:
    """What differs between the databases: statements, and the size of a transaction.

    `new_ids` returns `:count` ids for new records. If not `keeps_ids`, a record that is written again gets a new one.
    `store_analyses` stores analyses for the version `:version`, and `known_analyses`, if there is one, returns which of
    `:fingerprints` have an analysis of it. `is_stale` returns whether the planner should be told about new rows, which
    `update_statistics` does.
    A transaction has at most `batch` records, unless one name has more, and ends after `batch_bytes` of documents.
    """

    new_ids: str
    keeps_ids: bool
    store_analyses: str
    known_analyses: str | None
    is_stale: str | None
    update_statistics: str | None
    batch: int
    batch_bytes: int
