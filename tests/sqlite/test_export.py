"""The export has every table and column of the directory database, except those that it leaves out."""

from __future__ import annotations

from pathlib import Path

from directory_server.sqlite import DataDirectory, export
from directory_server.sqlite._export import _EXPRESSIONS, _LEFT_OUT


def test_what_is_left_out_or_changed_exists_and_keys_are_first(tmp_path: Path) -> None:
    data = DataDirectory(tmp_path)
    with data.directory.connection() as directory, data.quota.connection() as quota:
        rows = [*directory.execute(COLUMNS), *quota.execute(COLUMNS)]
    data.close()
    columns: dict[str, set[str]] = {}
    for table, column in rows:
        columns.setdefault(table, set()).add(column)
    assert {*_LEFT_OUT, *_EXPRESSIONS} <= {*columns}
    assert all(left_out <= columns[table] for table, left_out in _LEFT_OUT.items() if left_out)
    with export(tmp_path) as exported:
        tables = {table.name: table for table in exported.tables}
        assert {*columns} - {*tables} == {table for table, left_out in _LEFT_OUT.items() if left_out is None}
        assert list(tables["advisory"].columns[: tables["advisory"].key]) == ["package", "id"]
        names = list(tables)
    assert names[0] == "record"
    assert names.index("account") < names.index("api_key") < names.index("secret")


COLUMNS = """
    SELECT m.name, c.name FROM sqlite_schema AS m, pragma_table_info(m.name) AS c
    WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%'
"""
