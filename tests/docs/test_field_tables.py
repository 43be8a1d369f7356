"""Compare the tables of fields and parameters in docs/protocol.md with the classes."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest

from directory_server.client_config import Configuration, Input, Installation, Notice
from directory_server.domain.check_views import FoundToolView, PackageView, RemoteView, ToolChangeView, VerificationView
from directory_server.domain.ending_views import EndingView
from directory_server.domain.flags import FlagView
from directory_server.domain.marks import MarkView
from directory_server.domain.views import Detail, IdentityView, Tool
from directory_server.serialization import (
    ChangesParameters,
    Schema,
    SearchParameters,
    argument_schemas,
    field_schemas,
    required_fields,
)

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


TABLES: Sequence[type] = (
    *(Detail, Tool, FlagView, IdentityView, VerificationView, RemoteView, PackageView, FoundToolView),
    *(ToolChangeView, MarkView, EndingView),
    *(Installation, Input, Configuration, Notice),
)


@pytest.mark.parametrize("of", TABLES)
def test_the_protocol_has_the_table_of_the_class(of: type) -> None:
    begin, end = f"<!-- begin: fields of {of.__name__} -->\n\n", "\n<!-- end -->"
    _, _, rest = (ROOT / "docs" / "protocol.md").read_text("utf-8").partition(begin)
    assert rest.partition(end)[0] == table(of), (
        f"docs/protocol.md: replace the table of fields of {of.__name__} by:\n{table(of)}"
    )


@pytest.mark.parametrize(
    ("of", "section"),
    [(SearchParameters, "GET /api/open/v1/search"), (ChangesParameters, "GET /api/open/v1/changes")],
)
def test_the_protocol_has_the_parameters_with_their_defaults_and_limits(of: type, section: str) -> None:
    _, _, text = (ROOT / "docs" / "protocol.md").read_text("utf-8").partition(f"\n### {section}\n")
    _, _, rows = text.partition("| parameter | default | meaning |\n|---|---|---|\n")
    documented = re.findall(r"^\| `(\w+)` \| (.*?) ?\| (.+) \|$", rows.partition("\n\n")[0], re.MULTILINE)
    schemas = argument_schemas(of)
    assert [name for name, _, _ in documented] == list(schemas), f"docs/protocol.md: parameters of {section}"
    for name, default, meaning in documented:
        schema = schemas[name]
        assert (default == "required") == (name in required_fields(of))
        if "default" in schema:
            assert default == str(schema["default"])
        if "maximum" in schema:
            assert f"from {schema['minimum']} to {schema['maximum']:,}" in meaning
