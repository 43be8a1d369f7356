"""The declared shapes of published documents beside the official JSON schema, where a copy of it is present."""

from __future__ import annotations

import gzip
import json
import os
import re
from collections import Counter
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import jsonschema
import orjson
import pytest

from directory_server.features.publishing.server_json import check_server
from tests.conftest import SHARED

SCHEMA = Path(os.environ.get("SERVER_SCHEMA", SHARED / "server.schema.json"))
"""https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json, which is not part of the project."""

VALUE = {"description": "d", "isRequired": True, "format": "string", "value": "v", "isSecret": False, "default": "d"}

INPUT = {**VALUE, "placeholder": "p", "choices": ["a"]}

ARGUMENT = {**INPUT, "variables": {"one": INPUT}, "isRepeated": True, "valueHint": "hint"}

FULL: dict[str, Any] = {
    "$schema": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
    "name": "io.acme/weather",
    "description": "Weather.",
    "title": "Weather",
    "version": "1.0.0",
    "websiteUrl": "https://acme.example",
    "repository": {"url": "https://git.example/a", "source": "github", "id": "1", "subfolder": "a/b"},
    "icons": [{"src": "https://acme.example/a.png", "mimeType": "image/png", "sizes": ["48x48"], "theme": "dark"}],
    "packages": [
        {
            "registryType": "npm",
            "registryBaseUrl": "https://registry.example",
            "identifier": "weather",
            "version": "1.0.0",
            "fileSha256": "0" * 64,
            "runtimeHint": "npx",
            "transport": {"type": "sse", "url": "http://localhost/{hint}", "headers": [{**INPUT, "name": "A"}]},
            "runtimeArguments": [{**ARGUMENT, "type": "positional"}],
            "packageArguments": [{**ARGUMENT, "type": "named", "name": "--port"}],
            "environmentVariables": [{**INPUT, "variables": {"one": INPUT}, "name": "KEY"}],
        },
        {"registryType": "oci", "identifier": "ghcr.io/a/b:1", "transport": {"type": "stdio"}},
    ],
    "remotes": [
        {"type": "streamable-http", "url": "https://a.example/{t}", "variables": {"t": INPUT}, "headers": []},
        {"type": "sse", "url": "https://a.example", "headers": [{**INPUT, "variables": {}, "name": "B"}]},
    ],
    "_meta": {"io.modelcontextprotocol.registry/publisher-provided": {"a": 1}},
}
"""A document with every member of the schema."""

REPLACEMENTS: tuple[Any, ...] = (None, True, 1, 1.5, "", "latest", "a b", "x" * 300, [], {}, [None], ["x"], {"x": 1})

STRICTER = (
    r".*: unknown member '.*'; allowed: .*",
    r".*: must have [01] to [\d,]+ characters, not [\d,]+\.",
    r"_meta\..*: must have at most 4,096 bytes as JSON, not [\d,]+\.",
    r"_meta\..*: must be an object, not .*",
    r"(?:packages\[\d+\]\.)?version: must be one version such as .*",
    r"name: must be a namespace and a name such as io\.acme/weather.*",
    r".*: must be an (?:http or )?https URL\.",
    r".*\.url: must be an http or https URL, variables after the scheme, such as https://\{host\}/mcp\.",
    r".*\.url: cannot be installed: .*",
    r".*\.identifier: must be an https URL of a file with the suffix \.mcpb, as the type is mcpb\.",
    r"packages\[\d+\]\.identifier: must be an identifier without spaces\.",
    r".*\.name: must be a name such as --port, .*",
    # The schema does not declare it for named arguments.
    r".*Arguments\[\d+\]\.valueHint: must be a string, .*",
    r"repository\.subfolder: must be a relative path .*",
    r"(?:title|description): must be a text that is not blank\.",
    r"\$schema: must be one of .*",
    r".*\.url: has the variable \{.*\}, which is not defined; .*",
    r".*: must not contain control or invisible characters\.",
)
"""Our issues of documents that the schema accepts: the stricter rules of `server_json.py`."""


@pytest.fixture(scope="module")
def schema() -> jsonschema.Draft7Validator:
    if not SCHEMA.exists():
        pytest.skip(f"no copy of the official schema at {SCHEMA}; SERVER_SCHEMA names another place")
    return jsonschema.Draft7Validator(json.loads(SCHEMA.read_text("utf-8")))


def issues_of(server: Any) -> list[str]:
    return [f"{each.path}: {each.message}" for each in check_server(server, lambda value: len(orjson.dumps(value)))]


def changed(value: Any) -> Iterator[Any]:
    """Yield copies of `value` in which one part is missing, replaced, or has an unknown member."""
    yield from REPLACEMENTS
    if isinstance(value, dict):
        yield {**value, "unknown": 1}
        for name, member in value.items():
            yield {key: deepcopy(each) for key, each in value.items() if key != name}
            for other in changed(member):
                yield {**value, name: other}
    elif isinstance(value, list):
        for number, member in enumerate(value):
            for other in changed(member):
                yield [*value[:number], other, *value[number + 1 :]]


def test_a_document_with_every_member_is_valid_by_both(schema: jsonschema.Draft7Validator) -> None:
    assert issues_of(FULL) == []
    assert list(schema.iter_errors(FULL)) == []
    known = {name for each in schema.schema["definitions"].values() for name in properties(each)}
    assert known == set(members(FULL)) - {"a", "one", "t", "io.modelcontextprotocol.registry/publisher-provided"}


def properties(definition: Any) -> Iterator[str]:
    """Yield the names of the members that a definition declares."""
    yield from definition.get("properties", {})
    for each in definition.get("allOf", []):
        yield from properties(each)


def members(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield from value
    for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from members(each)


def test_changed_documents_have_the_same_verdict_but_for_the_stricter_rules(
    schema: jsonschema.Draft7Validator,
) -> None:
    verdicts = Counter[tuple[bool, bool]]()
    for document in changed(FULL):
        if isinstance(document, dict):
            compare(document, schema, verdicts)
    # Documents that both accept, that both reject, and that only we reject.
    assert verdicts.keys() == {(True, True), (False, False), (False, True)}
    assert sum(verdicts.values()) > 2_000


def test_real_documents_have_the_same_verdict_but_for_the_stricter_rules(
    schema: jsonschema.Draft7Validator, shared_data: Path
) -> None:
    verdicts = Counter[tuple[bool, bool]]()
    with gzip.open(shared_data / "entries.jsonl.gz") as lines:
        for line in lines:
            compare(json.loads(line)["server"], schema, verdicts)
    assert verdicts[True, True] > 0.99 * sum(verdicts.values())
    assert verdicts[False, False] > 0


def compare(document: Any, schema: jsonschema.Draft7Validator, verdicts: Counter[tuple[bool, bool]]) -> None:
    """Count the verdicts on a document. We never accept what the schema rejects."""
    issues, is_valid = issues_of(document), schema.is_valid(document)
    assert issues or is_valid, (document, [each.message for each in schema.iter_errors(document)])
    if is_valid:
        for issue in issues:
            assert any(re.fullmatch(rule, issue, re.DOTALL) for rule in STRICTER), (issue, document)
    verdicts[not issues, is_valid] += 1
