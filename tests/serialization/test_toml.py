"""TOML out, read back by the standard library."""

from __future__ import annotations

import tomllib
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from directory_server.serialization import toml

TEXTS = st.text(st.characters(codec="utf-8"))
TABLES = st.recursive(
    st.dictionaries(TEXTS, TEXTS | st.lists(TEXTS), max_size=4),
    lambda tables: st.dictionaries(TEXTS, tables | TEXTS, max_size=4),
    max_leaves=8,
)


@given(TABLES)
def test_every_table_can_be_read_back(table: Any) -> None:
    assert tomllib.loads(toml(table)) == table


def test_tables_have_headers() -> None:
    table = {"mcp_servers": {"a b": {"url": 'x"y\n', "args": ["1", "\x7f"], "env": {"A": "1"}, "none": {}}}}
    assert toml(table) == (
        '[mcp_servers."a b"]\nurl = "x\\"y\\n"\nargs = ["1", "\\u007F"]\n\n'
        '[mcp_servers."a b".env]\nA = "1"\n\n[mcp_servers."a b".none]\n'
    )
