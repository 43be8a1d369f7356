"""Rules of published server.json documents: what is valid, and the path and the words of each error."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from directory_server.domain.entries import PUBLISHER
from directory_server.domain.shapes import MAX_ISSUES, MAX_ITEMS
from directory_server.features.publishing.server_json import MAX_META, SCHEMAS, check_server, publishable

SERVER: dict[str, Any] = {
    "$schema": SCHEMAS[0],
    "name": "io.acme/weather",
    "title": "Weather \u2600\ufe0f",
    "description": "Forecasts.",
    "version": "1.0.2-beta.1+7",
    "websiteUrl": "https://acme.example/weather",
    "repository": {"url": "https://git.acme.example/w", "source": "gitlab", "id": "7", "subfolder": "src/weather"},
    "icons": [
        {"src": "https://acme.example/i.png", "mimeType": "image/png", "sizes": ["48x48", "any"], "theme": "dark"}
    ],
    "packages": [
        {
            "registryType": "npm",
            "registryBaseUrl": "https://registry.npmjs.org",
            "identifier": "@acme/weather",
            "version": "1.0.2",
            "fileSha256": "a" * 64,
            "runtimeHint": "npx",
            "transport": {
                "type": "streamable-http",
                "url": "http://localhost:{PORT}/{path}/{--host}",
                "headers": [{"name": "X", "value": "{token}", "variables": {"token": {"isSecret": True}}}],
            },
            "runtimeArguments": [{"type": "positional", "valueHint": "path", "isRepeated": True}],
            "packageArguments": [
                {"type": "positional", "value": "serve"},
                {"type": "named", "name": "--host", "default": "::", "choices": ["::", "0.0.0.0"]},
            ],
            "environmentVariables": [{"name": "PORT", "format": "number", "isRequired": True, "placeholder": "80"}],
        },
        {"registryType": "pypi", "identifier": "acme-weather", "transport": {"type": "stdio"}},
    ],
    "remotes": [
        {"type": "sse", "url": "https://{tenant}.acme.example/sse", "variables": {"tenant": {"default": "eu"}}},
        {"type": "streamable-http", "url": "https://acme.example/mcp", "headers": [{"name": "Authorization"}]},
    ],
    "_meta": {PUBLISHER: {"tool": "ci", "nested": [{"x": None}]}, "com.example/other": {"x": 1}},
}


def size(value: Any) -> int:
    return len(json.dumps(value).encode())


def changed(path: str, value: Any) -> dict[str, Any]:
    """Return SERVER with the member at `path` set; a part of the path is a name or a number."""
    server = deepcopy(SERVER)
    inside: Any = server
    *parts, last = (int(part) if part.isdigit() else part for part in path.split("/"))
    for part in parts:
        inside = inside[part]
    inside[last] = value
    return server


def issues(server: Any) -> list[tuple[str, str]]:
    return [(issue.path, issue.message) for issue in check_server(server, size)]


def test_a_full_document_is_valid() -> None:
    assert issues(SERVER) == []


def test_parts_of_the_draft_are_valid() -> None:
    steps = [
        {"description": "Restart your editor."},
        {"description": "Run it.", "command": "weather up", "documentation": "https://a.example", "optional": True},
    ]
    assert issues(changed("packages/1/postInstallInstructions", steps)) == []


ANY_VARIABLE = {name: {"isRequired": True} for name in ("a", "b", "base_url")}


@pytest.mark.parametrize(
    "url",
    [
        "https://{a}/mcp",
        "https://{a}.example:{b}/mcp",
        "https://a.example/{a}/{b}?x={base_url}",
        "http://10.0.0.5:8080/{a}",
        "https://a.example/mcp/{a}-{b}#x",
        "https://localhost/{a}",  # one's own machine: no editor gets it, but it is a URL
    ],
)
def test_a_template_that_editors_can_use_is_valid(url: str) -> None:
    assert issues(changed("remotes/0", {"type": "sse", "url": url, "variables": ANY_VARIABLE})) == []


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("{base_url}/mcp", "must be an http or https URL, variables after the scheme, such as https://{host}/mcp."),
        ("{a}://a.example/mcp", "must be an http or https URL, variables after the scheme"),
        ("https://user@{a}/mcp", "cannot be installed: https://user@<a>/mcp is not a valid http or https URL."),
        ("https://a.example:99999/{a}", "cannot be installed: https://a.example:99999/<a> is not a valid"),
        ("https://a.example:{a}{b}/", "cannot be installed: "),
        ("https://a..{a}/", "cannot be installed: "),
        ("https://[{a}::1/", "cannot be installed: "),
        ("https://\u00e9.{a}/", "cannot be installed: "),
        ("https://a.example/<{a}>", "cannot be installed: "),
        ("https://a.example/{}/{a}", "has a brace that is not of a variable"),
        ("https://a.example/{a}?x={b", "has a brace that is not of a variable"),
        ("https://a.example/{{a}}", "has a brace that is not of a variable"),
    ],
)
def test_a_template_that_no_editor_can_use_is_rejected_with_the_reason(url: str, message: str) -> None:
    transport = {"type": "sse", "url": url}
    ((path, text),) = issues(changed("remotes/0", {**transport, "variables": ANY_VARIABLE}))
    assert (path, text[: len(message)]) == ("remotes[0].url", message)
    variables = [{"name": name} for name in ANY_VARIABLE]
    package = {"registryType": "npm", "identifier": "a", "transport": transport, "environmentVariables": variables}
    ((path, text),) = issues(changed("packages/0", package))
    assert (path, text[: len(message)]) == ("packages[0].transport.url", message)


BUNDLE_URL = "https://github.com/acme/weather/releases/download/v1/weather"


@pytest.mark.parametrize(
    ("identifier", "is_valid"),
    [
        (f"{BUNDLE_URL}.mcpb", True),
        (f"{BUNDLE_URL}-1.0.0.MCPB?download=1", True),
        (f"{BUNDLE_URL}-linux-amd64", False),
        (f"{BUNDLE_URL}.exe", False),
        (f"{BUNDLE_URL}.tar.gz?x=.mcpb", False),
        ("http://a.example/weather.mcpb", False),
        ("https://weather.mcpb", False),
        ("weather.mcpb", False),
    ],
)
def test_a_bundle_is_a_bundle(identifier: str, is_valid: bool) -> None:
    package = {"registryType": "mcpb", "identifier": identifier, "transport": {"type": "stdio"}}
    expected = [
        ("packages[0].identifier", "must be an https URL of a file with the suffix .mcpb, as the type is mcpb.")
    ]
    assert issues(changed("packages/0", package)) == ([] if is_valid else expected)


def test_a_minimal_document_is_valid() -> None:
    assert issues({"name": "a/b", "description": "x", "version": "1"}) == []


@pytest.mark.parametrize(
    ("path", "value", "expected", "message"),
    [
        ("name", "weather", "name", "must be a namespace and a name such as io.acme/weather"),
        ("name", "io.acme/we/ather", "name", "must be a namespace"),
        ("name", "io.acme/weather\n", "name", "must be a namespace"),
        ("name", "io.acm\u0435/weather", "name", "must be a namespace"),
        ("name", "a" * 199 + "/b", "name", "must have 3 to 200 characters, not 201."),
        ("name", 5, "name", "must be a string, not a number."),
        ("description", "", "description", "must have 1 to 100 characters, not 0."),
        ("description", "x" * 101, "description", "must have 1 to 100 characters, not 101."),
        ("description", "  ", "description", "must be a text that is not blank."),
        ("description", "a\u202eb", "description", "must not contain control or invisible characters."),
        ("description", None, "description", "must be a string, not null."),
        ("$schema", "https://example.org/s.json", "$schema", "must be one of 'https://static."),
        ("websiteUrl", "javascript:alert(1)", "websiteUrl", "must be an http or https URL."),
        ("icons/0/src", "data:image/png;base64,x", "icons[0].src", "must be an https URL."),
        ("icons/0/sizes", ["48x48", "big"], "icons[0].sizes[1]", "must be a size such as 48x48, or any."),
        ("icons/0/theme", "red", "icons[0].theme", "must be 'light' or 'dark'."),
        ("repository/subfolder", "../x", "repository.subfolder", "must be a relative path"),
        ("repository/subfolder", "/etc", "repository.subfolder", "must be a relative path"),
        ("packages/0/fileSha256", "A" * 64, "packages[0].fileSha256", "must be 64 hexadecimal digits"),
        ("packages/1/identifier", "a b", "packages[1].identifier", "must be an identifier without spaces."),
        ("packages/1/transport", {"type": "http"}, "packages[1].transport.type", "must be one of 'stdio', "),
        ("packages/1/transport", {"type": []}, "packages[1].transport.type", "must be one of 'stdio', "),
        ("packages/1/transport", {"type": "sse"}, "packages[1].transport.url", "is required."),
        ("packages/1/transport", "stdio", "packages[1].transport", "must be an object, not a string."),
        ("packages/0/transport/url", "https://x/{no}", "packages[0].transport.url", "has the variable {no}, which is"),
        (
            "remotes/0/variables",
            {},
            "remotes[0].url",
            "has the variable {tenant}, which is not defined; defined: none.",
        ),
        ("remotes/1/url", "https://a b", "remotes[1].url", "must be an http or https URL, variables after the scheme"),
        ("remotes/1/url", "{base} /mcp", "remotes[1].url", "must be an http or https URL, variables after the scheme"),
        ("remotes/1/url", "https://{base}/", "remotes[1].url", "has the variable {base}, which is not defined"),
        ("websiteUrl", "{base}/mcp", "websiteUrl", "must be an http or https URL."),
        (
            "packages/1/postInstallInstructions",
            [{"command": "x"}],
            "packages[1].postInstallInstructions[0].description",
            "is required.",
        ),
        (
            "packages/1/postInstallInstructions",
            [{"description": "x", "documentation": "see the readme"}],
            "packages[1].postInstallInstructions[0].documentation",
            "must be an http or https URL.",
        ),
        ("remotes/1/type", "stdio", "remotes[1].type", "must be 'streamable-http' or 'sse'."),
        ("packages/0/packageArguments/0", {"type": "positional"}, "packages[0].packageArguments[0]", "must have value"),
        ("packages/0/packageArguments/1/name", "--port 80", "packages[0].packageArguments[1].name", "must be a name"),
        (
            "packages/0/environmentVariables/0/isRequired",
            1,
            "packages[0].environmentVariables[0].isRequired",
            "must be true",
        ),
        ("packages", {}, "packages", "must be an array, not an object."),
        ("remotes", [{}] * (MAX_ITEMS + 1), "remotes", "must have at most 200 items, not 201."),
        ("registry_type", "npm", "server", "unknown member 'registry_type'; allowed: $schema, name, "),
        ("status", "active", "server", "unknown member 'status'"),
        (
            "packages/1/registry_base_url",
            "x",
            "packages[1]",
            "unknown member 'registry_base_url'; allowed: registryType",
        ),
        (f"_meta/{PUBLISHER}", [], f"_meta.{PUBLISHER}", "must be an object, not an array."),
        (
            f"_meta/{PUBLISHER}",
            {"x": "y" * MAX_META},
            f"_meta.{PUBLISHER}",
            "must have at most 4,096 bytes as JSON, not ",
        ),
    ],
)
def test_an_error_names_the_member_and_what_is_allowed(path: str, value: Any, expected: str, message: str) -> None:
    ((found, text), *_) = issues(_changed(path, value))
    assert found == expected
    assert text.startswith(message)


def _changed(path: str, value: Any) -> dict[str, Any]:
    if path == f"_meta/{PUBLISHER}":
        return {**SERVER, "_meta": {PUBLISHER: value}}
    return changed(path, value)


@pytest.mark.parametrize("member", ["name", "description", "version"])
def test_required_members(member: str) -> None:
    assert issues({name: value for name, value in SERVER.items() if name != member}) == [(member, "is required.")]


@pytest.mark.parametrize(
    "version",
    [
        *("latest", "^1.2.3", "~1.2.3", ">=1.0.0", "<2", "=1.0.0", "1.x", "1.2.*", "1.2.X", "x", "*", "v1.x", "1.x.3"),
        *("1.2.3 - 2.0.0", "1.2 || 1.3", "1.0 ", "", "1/2", "..", ".", "1\\2", "1?x", "1#x", "1%2F2", "1\u200b", "1\n"),
        "1" * 256,
    ],
)
def test_a_version_is_one_version(version: str) -> None:
    assert [path for path, _ in issues(changed("version", version))] == ["version"]
    assert [path for path, _ in issues(changed("packages/0/version", version))] == ["packages[0].version"]


@pytest.mark.parametrize(
    "version", ["1", "1.0", "v1.0.0", "2025.11.22", "1.0.0-x.7", "0.1.0-alpha+x", "snapshot", "1.0.xp"]
)
def test_versions_need_not_be_semantic(version: str) -> None:
    assert issues(changed("version", version)) == []


@pytest.mark.parametrize("document", [None, [], "x", 5, True])
def test_a_document_is_an_object(document: Any) -> None:
    ((path, message),) = issues(document)
    assert path == ""
    assert message.startswith("must be an object, not ")


def test_the_number_of_issues_is_bounded() -> None:
    assert len(issues(changed("packages", [{}] * MAX_ITEMS))) == MAX_ISSUES
    assert len(issues({f"x{number}": 1 for number in range(1_000)})) == MAX_ISSUES


def test_metadata_of_others_is_left_out() -> None:
    assert publishable(SERVER) == {**SERVER, "_meta": {PUBLISHER: SERVER["_meta"][PUBLISHER]}}
    server = {"name": "a/b", "_meta": {"io.modelcontextprotocol.registry/official": {"isLatest": True}}}
    assert publishable(server) == {"name": "a/b"}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)

PATHS = [
    "icons",
    "packages",
    "remotes",
    "repository",
    "_meta",
    "packages/0",
    "packages/0/transport",
    "remotes/0/variables",
]


@given(st.sampled_from([*PATHS, *SERVER, "packages/0/packageArguments/1", "packages/0/environmentVariables/0"]), JSON)
def test_any_value_has_issues_or_is_valid(path: str, value: Any) -> None:
    server = changed(path, value)
    if not issues(server):
        assert json.loads(json.dumps(publishable(server)))["name"] == server["name"]
