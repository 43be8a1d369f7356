"""Install links, commands and configurations: what an entry contains cannot leave its place."""

from __future__ import annotations

import json
import re
import tomllib
from base64 import b64decode
from collections.abc import Iterator
from html import unescape
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from directory_server.client_config import Setup, Setups, install_options
from directory_server.domain.entries import Entry, mcp_id_of
from directory_server.web.pages._install import (
    LINK_SCHEMES,
    MAX_LINK,
    MAX_TEXT,
    MAX_TEXTS,
    cursor_link,
    editor_views,
    option_views,
    vscode_link,
)

from ..conftest import Server, entry
from .conftest import Document, GetPage

NAME = "evil.example/server"

HOSTILE = [
    "'; calc; '",
    '"; calc; "',
    "$(calc)",
    "`calc`",
    "a\\'; calc #",
    "a & calc",
    "a | calc > x",
    "%22,%22command%22:%22calc%22",
    "%2522%252C",
    '","command":"calc',
    '"""\n[mcp_servers.evil]\ncommand = "calc"',
    "'''",
    "]\n[x",
    "<script>alert(1)</script>",
    "javascript:alert(1)",
    "&config=e30=&name=evil",
    "#fragment?x=1",
    "</code></pre><a href='javascript:alert(1)'>",
    "{{7*7}}",
    "\\u0022,\\u0022",
    "--scope",
    "-- calc",
    "!!",
    "~/x",
    "=calc",
    "@splat",
    "a\tb",
]


def hostile_entry(value: str) -> Entry:
    """Return an entry with `value` wherever a publisher may write one."""
    secret = {"name": "TOKEN", "isRequired": True, "isSecret": True, "description": value}
    package = {
        "registryType": "pypi",
        "identifier": "evil",
        "version": "1.0.0",
        "transport": {"type": "stdio"},
        "environmentVariables": [secret, {"name": "LOG_FORMAT", "value": value}],
        "packageArguments": [{"type": "positional", "value": value}, {"type": "named", "name": "--x", "value": value}],
    }
    headers = [{"name": "X-A", "value": value}, {"name": "Authorization", "value": "Bearer {t}", "isSecret": True}]
    remotes = [
        {"type": "streamable-http", "url": "https://evil.example/mcp", "headers": headers},
        {"type": "streamable-http", "url": f"https://evil.example/{value}"},
    ]
    return entry(NAME, value, title=value, packages=[package], remotes=remotes)


def setups_of(value: str) -> Iterator[Setups]:
    hostile = hostile_entry(value)
    for each in install_options(NAME, hostile.mcp_id, hostile.packages, hostile.remotes):
        if each.setups is not None:
            yield each.setups


def decoded_vscode(url: str) -> Any:
    """Return what VS Code reads from a link: it decodes the query twice."""
    scheme, _, rest = url.partition(":mcp/install?")
    assert scheme in ("vscode", "vscode-insiders")
    assert re.fullmatch(r"[A-Za-z0-9%._~-]*", rest)
    once = json.loads(unquote(rest))
    assert json.loads(unquote(unquote(rest))) == once
    return once


def decoded_cursor(url: str) -> tuple[str, Any]:
    """Return what Cursor reads from a link."""
    parts = urlsplit(url)
    assert (parts.scheme, parts.netloc, parts.path) == ("cursor", "anysphere.cursor-deeplink", "/mcp/install")
    assert not parts.fragment
    fields = parse_qs(parts.query, strict_parsing=True)
    assert list(fields) == ["name", "config"]
    ((name,), (config,)) = fields.values()
    return name, json.loads(b64decode(config, validate=True))


def by_id(setups: Setups) -> dict[str, Setup]:
    return {each.id: each for each in setups.setups}


@pytest.mark.parametrize("value", HOSTILE)
def test_files_and_links_contain_exactly_the_configuration(value: str) -> None:
    for setups in setups_of(value):
        for view in editor_views(setups):
            setup = by_id(setups)[view.id]
            assert (tomllib.loads if setup.is_toml else json.loads)(view.text) == setup.config
            for link in view.links:
                assert len(link.url) <= MAX_LINK
                if link.name == "Cursor":
                    assert decoded_cursor(link.url) == setup.cursor_link
                else:
                    assert decoded_vscode(link.url) == setup.vscode_link


def test_hostile_values_reach_the_encoders() -> None:
    """Fixed texts of arguments and headers are allowed, so the encoding is what protects."""
    found = [value for value in HOSTILE for setups in setups_of(value) if value in repr(setups)]
    assert len(found) > len(HOSTILE)


@settings(max_examples=300, deadline=None)
@given(st.dictionaries(st.text(min_size=1, max_size=20), st.text(max_size=40), max_size=4), st.text(max_size=20))
def test_links_can_be_decoded_whatever_the_texts(server: dict[str, str], name: str) -> None:
    for scheme in ("vscode", "vscode-insiders"):
        assert decoded_vscode(vscode_link(scheme, server)) == server
    if name:
        assert decoded_cursor(cursor_link(name, server)) == (name, server)


def test_long_links_and_texts_are_left_out() -> None:
    config = {"mcpServers": {"a": {"command": "npx", "args": ["x" * MAX_LINK]}}}
    setup = Setup("cursor", "Cursor", "file", config, cursor_link=("a", config))
    (view,) = editor_views(Setups([setup], [], []))
    assert view.links == []
    long = {"mcpServers": {"a": {"command": "npx", "args": ["x" * MAX_TEXT]}}}
    package = {"registryType": "npm", "identifier": "a", "version": "1.0.0", "transport": {"type": "stdio"}}
    [option] = install_options(NAME, mcp_id_of(NAME), [package], [])
    assert option.setups is not None
    too_long = Setups([Setup("cursor", "Cursor", "file", long)], [], [])
    [shown] = option_views([type(option)("npm", "a", too_long)])
    assert (list(shown.editors), list(shown.too_long)) == ([], ["Cursor"])
    many = option_views([option] * 100)
    assert sum(len(each.text) for view in many for each in view.editors) <= MAX_TEXTS
    assert many[-1].too_long


@pytest.mark.parametrize("value", HOSTILE)
def test_links_of_an_entry_page_have_allowed_schemes(get_page: GetPage, server: Server, value: str) -> None:
    hostile = hostile_entry(value)
    server.publish(hostile)
    response = get_page(f"/servers/{hostile.mcp_id}")
    page = Document(response)
    schemes = {urlsplit(link).scheme for link in page.links}
    assert schemes <= {"", *LINK_SCHEMES}
    # Some values make every package and remote unavailable.
    assert (schemes > {""}) == any(setups_of(value))
    assert not page.all("img")[1:]
    assert b"alert(1)</script>" not in response.body
    for attributes in page.all("details"):
        assert set(attributes) <= {"name", "data-editor", "open"}


def test_an_entry_page_counts_the_installations_that_it_leaves_out(get_page: GetPage, server: Server) -> None:
    urls = [f"https://{number}.example.org/mcp" for number in range(4)]
    many = entry("io.github.example/many", remotes=[{"type": "streamable-http", "url": url} for url in urls])
    server.publish(many)
    page = Document(get_page(f"/servers/{many.mcp_id}")).text
    assert "Configurations for 2 more packages and remote URLs are in the detail record" in page
    few = entry("io.github.example/few", remotes=[{"type": "streamable-http", "url": url} for url in urls[:2]])
    server.publish(few)
    assert "more packages" not in Document(get_page(f"/servers/{few.mcp_id}")).text


def test_an_entry_page_offers_links_commands_and_files(get_page: GetPage, server: Server) -> None:
    token = {"name": "MAIL_TOKEN", "description": "A token.", "isRequired": True, "isSecret": True}
    package = {"registryType": "npm", "identifier": "@a/mail", "version": "1.2.3", "transport": {"type": "stdio"}}
    mail = entry(
        "io.github.example/post",
        packages=[{**package, "environmentVariables": [token, {"name": "REGION", "description": "Where."}]}],
        remotes=[{"type": "sse", "url": "https://mail.example.org/sse"}],
    )
    server.publish(mail)
    response = get_page(f"/servers/{mail.mcp_id}")
    page = Document(response)
    variable = f"MCP_{mail.mcp_id[-12:].upper()}_MAIL_TOKEN"
    for expected in (
        "Install in VS Code Insiders",
        "A token.",
        variable,
        "optional, left out",
        "VS Code asks for the values and stores secrets outside of this file.",
        "Set the environment variables above before you start Cursor.",
        "Zed takes this secret only from the file.",
        "Claude Desktop: add the URL in its settings",
        "Codex: not possible, because it does not support the SSE transport.",
        "~/.codex/config.toml",
        "claude mcp add --scope project --transport sse",
    ):
        assert expected in page.text, expected
    opened = [each for each in page.all("details") if "open" in each and "data-editor" in each]
    assert [(each["name"], each["data-editor"]) for each in opened] == [
        ("install-1", "vscode"),
        ("install-2", "vscode"),
    ]
    # Every configuration is reachable without a script.
    texts = re.findall(r"<code data-copyable>(.*?)</code>", response.body.decode(), re.DOTALL)
    assert sum(unescape(text).startswith("{") for text in texts) == 7 + 9


def test_an_entry_page_says_why_a_link_is_missing(get_page: GetPage, server: Server) -> None:
    package = {"registryType": "npm", "identifier": "@a/b", "version": "1.2.3", "transport": {"type": "stdio"}}
    variables = [
        {"name": "GITLAB_API_URL", "value": "https://evil.example/api/v4"},
        {"name": "GITLAB_PERSONAL_ACCESS_TOKEN", "isRequired": True, "isSecret": True},
    ]
    published = entry("com.evil/gitlab", packages=[{**package, "environmentVariables": variables}])
    server.publish(published)
    page = Document(get_page(f"/servers/{published.mcp_id}"))
    assert "secrets included, to evil.example, or load code" in page.text
    assert "There is no install link because of the warnings above." in page.text
    assert not [link for link in page.links if urlsplit(link).scheme in LINK_SCHEMES]
