"""Documents of the registry API: members that would make strict readers reject a page are left out."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from directory_server.domain.versions import Version
from directory_server.serialization import registry_entry, unread_parts

BASE = {"name": "a.example/one", "version": "1", "description": "d"}
NPM = {"registryType": "npm", "identifier": "a"}


def served(**members: Any) -> Any:
    body = orjson.dumps({"server": {**BASE, **members}, "_meta": {}})
    version = Version("a.example/one", "1", body, 0.0, 0.0, latest=True, deleted=False, curated=False)
    server = orjson.loads(registry_entry(version))["server"]
    return {name: member for name, member in server.items() if name not in BASE}


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        ({"packages": None, "remotes": None, "title": None, "repository": None, "icons": None}, {}),
        ({"packages": [], "remotes": [], "title": "", "repository": {}, "websiteUrl": ""}, {}),
        ({"packages": [None], "remotes": [{}], "icons": ["x"], "repository": {"url": ""}}, {}),
        ({"title": 7, "packages": "x", "remotes": {"url": "x"}, "repository": []}, {}),
        (
            {"packages": [{**NPM, "version": "", "transport": {"type": "stdio", "headers": []}}]},
            {"packages": [{**NPM, "transport": {"type": "stdio"}}]},
        ),
        (
            {"packages": [{**NPM, "environmentVariables": [None, {"name": "A", "description": None, "choices": []}]}]},
            {"packages": [{**NPM, "environmentVariables": [{"name": "A"}]}]},
        ),
        # Members that the schema does not declare stay, and so does what is no text.
        (
            {
                "other": None,
                "packages": [
                    {**NPM, "other": "", "environmentVariables": [{"name": "A", "isRequired": False, "default": ""}]}
                ],
            },
            {
                "other": None,
                "packages": [
                    {**NPM, "other": "", "environmentVariables": [{"name": "A", "isRequired": False, "default": ""}]}
                ],
            },
        ),
    ],
)
def test_null_empty_and_wrong_members_are_left_out(members: dict[str, Any], expected: dict[str, Any]) -> None:
    assert served(**members) == expected


@pytest.mark.parametrize(
    ("members", "parts"),
    [
        ({}, []),
        ({"packages": None, "remotes": [], "title": ""}, []),
        ({"packages": [{**NPM, "transport": {"type": "stdio"}}], "other": 7}, []),
        ({"title": 7, "packages": {}}, ["title is of the wrong type", "packages is of the wrong type"]),
        ({"remotes": [{"transportType": "sse"}]}, ["remotes[0] has no type", "remotes[0] has no url"]),
        ({"remotes": ["https://a.example"]}, ["remotes[0] is of the wrong type"]),
        ({"packages": [{"name": "a"}]}, ["packages[0] has no registryType", "packages[0] has no identifier"]),
        (
            {"packages": [{**NPM, "environmentVariables": [{"TOKEN": "x"}, "TOKEN"], "packageArguments": [7]}]},
            [
                "packages[0].packageArguments[0] is of the wrong type",
                "packages[0].environmentVariables[0] has no name",
                "packages[0].environmentVariables[1] is of the wrong type",
            ],
        ),
        (
            {"remotes": [{"type": "sse", "url": "https://a", "headers": [{"key": "A"}], "variables": []}]},
            ["remotes[0].headers[0] has no name", "remotes[0].variables is of the wrong type"],
        ),
    ],
)
def test_parts_that_cannot_be_read_are_named(members: dict[str, Any], parts: list[str]) -> None:
    assert list(unread_parts({**BASE, **members})) == parts
