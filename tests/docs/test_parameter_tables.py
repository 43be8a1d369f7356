"""Compare the tables of parameters in docs/protocol.md with the classes."""

from __future__ import annotations

import re

import pytest

from directory_server.serialization import ChangesParameters, SearchParameters, argument_schemas, required_fields

from ._examples import ROOT


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
