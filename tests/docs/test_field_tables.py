"""Compare the tables of fields in docs/protocol.md with the descriptions in the classes."""

from __future__ import annotations

import pytest

from directory_server.client_config import Configuration, Input, Installation, Notice
from directory_server.domain.views import Detail, Tool
from directory_server.serialization import Schema, field_schemas

from ._examples import ROOT


def type_name(schema: Schema) -> str:
    """Return the type of a field in words."""
    if "oneOf" in schema:
        return " or ".join(type_name(each) for each in schema["oneOf"])
    if schema["type"] == "array":
        return f"array of {type_name(schema['items'])}s"
    if isinstance(schema["type"], list):
        return " or ".join(schema["type"])
    return str(schema["type"])


def table(of: type) -> str:
    """Return the table of the fields of `of`."""
    rows = [
        f"| `{name}` | {type_name(schema)} | {schema.get('description', '')} |"
        for name, schema in field_schemas(of, reference=lambda _: {"type": "object"}).items()
    ]
    return "\n".join(["| field | type | meaning |", "|---|---|---|", *rows]) + "\n"


@pytest.mark.parametrize("of", [Detail, Tool, Installation, Input, Configuration, Notice])
def test_the_protocol_has_the_table_of_the_class(of: type) -> None:
    begin, end = f"<!-- begin: fields of {of.__name__} -->\n\n", "\n<!-- end -->"
    _, _, rest = (ROOT / "docs" / "protocol.md").read_text("utf-8").partition(begin)
    assert rest.partition(end)[0] == table(of)
