"""Property tests: any entry, and the real ones, have complete and safe configurations."""

from __future__ import annotations

import gzip
import re
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from directory_server import serialization
from directory_server.client_config import installations
from directory_server.domain.details import detail_of
from directory_server.domain.entries import mcp_id_of
from directory_server.texts.sanitize import clean
from tests.strategies import texts

from .builders import (
    STDIO,
    configurations,
    server_of,
)

WORD = st.sampled_from(
    [
        *("a", "b", "name", "--x", "{a}", "${a}", "${env:A}", "$A", "%A%", "{env:A}", "$", "{", "}", "{{a}}"),
        *("<a>", '"', "\\", "'", "\n", "\u202e", "é"),
    ]
)


LINE = st.lists(WORD, max_size=6).map("".join) | st.text(max_size=20)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.floats(allow_nan=False, allow_infinity=False) | LINE,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(LINE, inner, max_size=3),
    max_leaves=6,
)


KEYS = ("name", "type", "value", "default", "description", "isRequired", "isSecret", "valueHint", "format", "choices")


MEMBERS = st.fixed_dictionaries(
    {}, optional={**dict.fromkeys(KEYS, JSON), "variables": st.dictionaries(LINE, st.dictionaries(LINE, JSON)) | JSON}
)


NAMED = st.lists(
    st.builds(lambda members, name: {**members, "name": name}, MEMBERS, st.just("A") | LINE) | JSON, max_size=4
)


PACKAGE = st.fixed_dictionaries(
    {"registryType": st.sampled_from(["npm", "pypi", "oci", "nuget", "mcpb"]), "identifier": st.just("a") | LINE},
    optional={
        "transport": st.just(STDIO) | JSON,
        "version": JSON,
        "registryBaseUrl": JSON,
        "environmentVariables": NAMED | JSON,
        "runtimeArguments": NAMED | JSON,
        "packageArguments": NAMED | JSON,
    },
)


REMOTE = st.fixed_dictionaries(
    {"type": st.sampled_from(["sse", "streamable-http"]), "url": LINE.map("https://a.example/".__add__) | LINE},
    optional={"headers": NAMED | JSON, "variables": JSON},
)


@pytest.mark.slow
@given(LINE, st.lists(PACKAGE, max_size=3), st.lists(REMOTE, max_size=3))
def test_any_entry_gives_a_complete_and_safe_configuration(name: str, packages: Any, remotes: Any) -> None:
    mcp_id = mcp_id_of(name)
    short_id = mcp_id.replace("-", "")[-20:]
    for installation in installations(name, mcp_id, packages, remotes):
        inputs = {each.name for each in installation.inputs}
        assert len(serialization.encode(installation)) < 40_000
        for each in installation.configurations:
            assert not re.search(r"\$[A-Za-z]|\{(env|file):|%A%", str(each.config))
            assert serialization.decode(serialization.encode(each.config)) == each.config
            for text in texts(each.config):
                assert not re.search("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", text)
                references = [part.partition("}")[0] for part in text.split("${")[1:]]
                assert each.editor == "VS Code" or not references
                assert {part.partition("-")[0] for part in references} <= {f"input:{short_id}"}
                assert {part.partition("-")[2] for part in references} <= inputs
        if installation.unavailable:
            assert not installation.configurations
            assert clean(installation.name) == installation.name
            continue
        prompts = [each["id"] for each in configurations(installation)["VS Code"].get("inputs", ())]
        assert len(set(prompts)) == len(prompts)
        assert server_of(installation).get("command") in (None, "npx", "uvx", "docker", "dnx")


def test_real_entries(shared_data: Path) -> None:
    with_configuration = with_sources = 0
    with gzip.open(shared_data / "entries.jsonl.gz") as lines:
        # A tenth of them: all take fifteen seconds.
        for line in islice(lines, 0, None, 10):
            if b'"packages"' not in line and b'"remotes"' not in line:
                continue
            detail = detail_of(serialization.decode_entry(serialization.decode(line)))
            with_sources += bool(detail.packages or detail.remotes)
            with_configuration += any(installation.configurations for installation in detail.install)
            assert len(serialization.encode(detail.install)) < 64 * 1024
    assert with_sources > 500
    assert with_configuration > 0.9 * with_sources
