"""Hostile URLs, arguments and names in entries: no rule of managed settings matches another server."""

from __future__ import annotations

from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from directory_server import serialization
from directory_server.domain.entries import Entry
from directory_server.features.managed_settings.selection import FILES, PolicyBuilder

from ..features.managed_settings.matchers import check_format, claude_code, others, vs_code

PIECES = st.sampled_from(
    [
        *("*", "?", "#", "/", "//", "..", ".", "@", ":", "\\", "%2e", "%2F", "%2a", "%", "[", "]", "{a}", "${A}", "${"),
        *("$(A)", "|", "[a-z]", "evil.example", "acme.com", "https://", "http://", "a", "A", ":443", " ", "\n"),
        "\u202e",
        *("é", "\uff0e", "xn--", "&", ";", '"', "<", ">", "`", "^"),
    ]
)
TEXT = st.lists(PIECES, max_size=8).map("".join)


@given(st.sampled_from(["https://acme.com", "https://acme.com/", "http://", ""]), TEXT, TEXT)
@example("https://acme.com", "/*", "")
@example("https://", "*", "")
@example("https://acme.com/", "../../*", "@evil.example")
def test_no_text_makes_a_rule_for_another_server(beginning: str, url: str, argument: str) -> None:
    server: dict[str, Any] = {
        "name": f"com.acme/{argument}",
        "description": "A tool.",
        "version": "1.0.0",
        "remotes": [{"type": "sse", "url": f"{beginning}{url}", "headers": [{"name": "A", "value": argument}]}],
        "packages": [
            {
                "registryType": kind,
                "identifier": "tool",
                "version": "1.0.0",
                "transport": {"type": "stdio"},
                "packageArguments": [{"type": "positional", "value": argument}],
            }
            for kind in ("npm", "pypi")
        ],
    }
    builder = PolicyBuilder()
    builder.allow(Entry(server))
    builder.deny(Entry({**server, "name": f"com.evil/{argument}"}))
    policy = builder.policy()
    for file in FILES:
        document = policy.document(file)
        assert serialization.decode(serialization.encode(document)) == document
        if file != "managed-mcp.json":
            check_format(
                {**document, "deniedMcpServers": [m for m in document["deniedMcpServers"] if "serverName" not in m]}
            )
    for rule in policy.allowed:
        for match in (vs_code, claude_code) if rule.url else ():
            assert match(rule.url, rule.url)
            assert not any(match(rule.url, each) for each in others(rule.url))
