"""Rules of published server.json documents: those of the official schema 2025-12-11, and stricter ones.

A part of its draft is accepted: `postInstallInstructions`. Stricter rules: members are those of the schema, texts have
no control or invisible characters, a version is one version and no range, names, URLs and template variables are as the
official registry requires them, URLs of endpoints can be installed, and an MCP bundle is a file with the suffix .mcpb.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from attrs import evolve, frozen

from ...client_config import unusable_url
from ...domain.entries import MAX_NAME, MAX_VERSION, PUBLISHER
from ...domain.patterns import NAME
from ...domain.shapes import MAX_ISSUES, Issue, List, Map, Object, OneOf, Text, any_object, flag

SCHEMAS = tuple(
    f"https://static.modelcontextprotocol.io/schemas/{date}/server.schema.json"
    for date in ("2025-12-11", "2025-10-17", "2025-10-11", "2025-09-29")
)
"""Accepted values of `$schema`, the newest first. Documents of the older ones are valid by the newest too."""

MAX_URL = 2_000
"""Characters of a URL."""

MAX_META = 4_096
"""Bytes of the publisher's metadata, encoded."""

_RANGE = re.compile(
    r"latest|[\^~<>=].*|.*\s-\s.*|.*\|\|.*|(?:v?\d+|[xX*])(?:\.(?:\d+|[xX*]))*\.[xX*](?:[.-].*)?|[xX*](?:\..*)?",
    re.DOTALL,
)

_VERSION = re.compile(r"[^\s/\\?#%]+")

_WEB_URL = re.compile(r"https?://[^\s/?#]+[^\s]*")

_HTTPS_URL = re.compile(r"https://[^\s/?#]+[^\s]*")

_BUNDLE = re.compile(r"https://[^\s/?#]+/[^\s?#]+\.mcpb(?:\?\S*)?", re.IGNORECASE)

_VARIABLE = re.compile(r"\{([^{}]+)\}")


def check_server(server: Any, check_meta: Callable[[Any], int]) -> Sequence[Issue]:
    """Return the issues of a server.json document, at most MAX_ISSUES; none if it may be published.

    `check_meta` returns the bytes of an encoded value.
    """
    issues = list(_SERVER(server, ""))
    if not issues:
        for number, package in enumerate(server.get("packages", ())):
            issues += _endpoint(package["transport"], f"packages[{number}].transport", _package_variables(package))
            if package["registryType"] == "mcpb" and not _BUNDLE.fullmatch(package["identifier"]):
                message = "must be an https URL of a file with the suffix .mcpb, as the type is mcpb."
                issues.append(Issue(f"packages[{number}].identifier", message))
        for number, remote in enumerate(server.get("remotes", ())):
            issues += _endpoint(remote, f"remotes[{number}]", remote.get("variables", {}))
        provided = server.get("_meta", {}).get(PUBLISHER)
        if provided is not None and (size := check_meta(provided)) > MAX_META:
            issues.append(Issue(f"_meta.{PUBLISHER}", f"must have at most {MAX_META:,} bytes as JSON, not {size:,}."))
    return issues[:MAX_ISSUES]


def publishable(server: Mapping[str, Any]) -> dict[str, Any]:
    """Return a valid document without the members of `_meta` that publishers may not set."""
    provided = server.get("_meta", {}).get(PUBLISHER)
    others = {name: member for name, member in server.items() if name != "_meta"}
    return others if provided is None else {**others, "_meta": {PUBLISHER: provided}}


def version_issues(value: Any, path: str) -> Sequence[Issue]:
    """Return the issues of a version: it is one version, and no range."""
    found = Text(MAX_VERSION, 1, _VERSION, "one version such as 1.0.2, without spaces and / \\ ? # %")(value, path)
    if not found and (_RANGE.fullmatch(value) or value in (".", "..")):
        return [Issue(path, "must be one version such as 1.0.2, not a range and not 'latest'.")]
    return found


@frozen
class _Positional:
    """Check a positional argument, which has a `value` or a `valueHint`."""

    arguments: Object

    def __call__(self, value: Any, path: str) -> Sequence[Issue]:
        if found := self.arguments(value, path):
            return found
        return () if {"value", "valueHint"} & value.keys() else [Issue(path, "must have value or valueHint.")]


def _package_variables(package: Mapping[str, Any]) -> set[str]:
    arguments = [*package.get("runtimeArguments", ()), *package.get("packageArguments", ())]
    inputs = [*package.get("environmentVariables", ()), *arguments]
    return {given[key] for given in inputs for key in ("name", "valueHint") if key in given}


def _endpoint(transport: Mapping[str, Any], path: str, known: Collection[str]) -> Sequence[Issue]:
    """Return an issue if a variable in the URL of `transport` is not defined, or if no editor can use the URL."""
    variables = _VARIABLE.findall(transport.get("url", ""))
    unknown = next((variable for variable in variables if variable not in known), None)
    allowed = ", ".join(sorted(known)[:10]) or "none"
    message = f"has the variable {{{(unknown or '')[:50]}}}, which is not defined; defined: {allowed}."
    if unknown is not None:
        return [Issue(f"{path}.url", message)]
    if {"{", "}"} & set(_VARIABLE.sub("", transport.get("url", ""))):
        return [Issue(f"{path}.url", "has a brace that is not of a variable such as {tenant}.")]
    reason = unusable_url(transport) if "url" in transport else ""
    return [Issue(f"{path}.url", f"cannot be installed: {reason}")] if reason else ()


_ANY_TEXT = Text()

_INPUT = Object(
    {
        "description": _ANY_TEXT,
        "isRequired": flag,
        "format": Text(allowed=("string", "number", "boolean", "filepath")),
        "value": _ANY_TEXT,
        "isSecret": flag,
        "default": _ANY_TEXT,
        "placeholder": _ANY_TEXT,
        "choices": List(_ANY_TEXT),
    }
)

_WITH_VARIABLES = evolve(_INPUT, members={**_INPUT.members, "variables": Map(_INPUT)})

_NAMED_INPUTS = List(Object({**_WITH_VARIABLES.members, "name": Text(MAX_NAME, 1)}, ["name"]))

_ARGUMENTS = List(
    OneOf(
        {
            "positional": _Positional(
                Object({**_WITH_VARIABLES.members, "type": _ANY_TEXT, "valueHint": _ANY_TEXT, "isRepeated": flag})
            ),
            "named": Object(
                {
                    **_WITH_VARIABLES.members,
                    "type": _ANY_TEXT,
                    "name": Text(
                        MAX_NAME, 1, re.compile(r"[^\s<>$]+"), "a name such as --port, without < > $ or spaces"
                    ),
                    "valueHint": _ANY_TEXT,
                    "isRepeated": flag,
                },
                ["name"],
            ),
        }
    )
)

_URL = Text(MAX_URL, 1, _WEB_URL, "an http or https URL")

_ENDPOINT = Text(MAX_URL, 1, _WEB_URL, "an http or https URL, variables after the scheme, such as https://{host}/mcp")

_HTTP = Object({"type": _ANY_TEXT, "url": _ENDPOINT, "headers": _NAMED_INPUTS}, ["url"])

_REMOTE = evolve(_HTTP, members={**_HTTP.members, "variables": Map(_INPUT)})

_INSTRUCTION = Object(
    {"description": Text(500, 1), "command": Text(1_000, 1), "documentation": _URL, "optional": flag}, ["description"]
)

_PACKAGE = Object(
    {
        "registryType": Text(100, 1),
        "registryBaseUrl": _URL,
        "identifier": Text(MAX_URL, 1, re.compile(r"\S+"), "an identifier without spaces"),
        "version": version_issues,
        "fileSha256": Text(64, 64, re.compile(r"[a-f0-9]{64}"), "64 hexadecimal digits in lower case"),
        "runtimeHint": Text(100),
        "transport": OneOf({"stdio": Object({"type": _ANY_TEXT}), "streamable-http": _HTTP, "sse": _HTTP}),
        "runtimeArguments": _ARGUMENTS,
        "packageArguments": _ARGUMENTS,
        "environmentVariables": _NAMED_INPUTS,
        "postInstallInstructions": List(_INSTRUCTION),
    },
    ["registryType", "identifier", "transport"],
)

_ICON = Object(
    {
        "src": Text(255, 1, _HTTPS_URL, "an https URL"),
        "mimeType": Text(allowed=("image/png", "image/jpeg", "image/jpg", "image/svg+xml", "image/webp")),
        "sizes": List(Text(20, 1, re.compile(r"[0-9]+x[0-9]+|any"), "a size such as 48x48, or any")),
        "theme": Text(allowed=("light", "dark")),
    },
    ["src"],
)

_REPOSITORY = Object(
    {
        "url": _URL,
        "source": Text(100, 1),
        "id": Text(MAX_NAME),
        "subfolder": Text(
            500,
            1,
            re.compile(r"(?!/)(?!.*(?:^|/)\.\.?(?:/|$))(?!.*//)[^\s\\]+"),
            "a relative path without .. and spaces",
        ),
    },
    ["url", "source"],
)

_NAME_RULE = "a namespace and a name such as io.acme/weather: letters, digits, '.', '-', and in the name '_'"

_SERVER = Object(
    {
        "$schema": Text(allowed=SCHEMAS),
        "name": Text(MAX_NAME, 3, NAME, _NAME_RULE),
        "description": Text(100, 1, re.compile(r".*\S.*", re.DOTALL), "a text that is not blank"),
        "title": Text(100, 1, re.compile(r".*\S.*", re.DOTALL), "a text that is not blank"),
        "version": version_issues,
        "websiteUrl": _URL,
        "repository": _REPOSITORY,
        "icons": List(_ICON),
        "packages": List(_PACKAGE),
        "remotes": List(OneOf({"streamable-http": _REMOTE, "sse": _REMOTE})),
        "_meta": Map(any_object),
    },
    ["name", "description", "version"],
)
