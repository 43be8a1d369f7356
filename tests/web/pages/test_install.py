"""Install links, commands and configurations: what an entry contains cannot leave its place."""

from __future__ import annotations

import json
import re
import tomllib
from base64 import b64decode
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from directory_server.client_config import EDITORS, Setup, Setups, install_options
from directory_server.domain.entries import PUBLISHER, Entry, mcp_id_of
from directory_server.web.pages._install import (
    LINK_SCHEMES,
    MAX_LINK,
    MAX_TEXT,
    cursor_link,
    exports,
    groups_of,
    has_placeholders,
    install_links,
    vscode_link,
)

from ..conftest import Server, entry
from .conftest import Document, GetPage

NAME = "evil.example/server"

HOSTILE = [
    *("'; calc; '", '"; calc; "', "$(calc)", "`calc`", "a\\'; calc #", "a & calc", "a | calc > x"),
    *("%22,%22command%22:%22calc%22", "%2522%252C", '","command":"calc'),
    *('"""\n[mcp_servers.evil]\ncommand = "calc"', "'''", "]\n[x", "<script>alert(1)</script>"),
    *("javascript:alert(1)", "&config=e30=&name=evil", "#fragment?x=1"),
    *("</code></pre><a href='javascript:alert(1)'>", "{{7*7}}", "\\u0022,\\u0022", "--scope", "-- calc", "!!"),
    *("~/x", "=calc", "@splat", "a\tb"),
]


def read_yaml(text: str) -> Any:
    """Read the YAML of `serialization.yaml`: mappings by indentation, and values that are JSON."""
    root: dict[str, Any] = {}
    levels = [root]
    for line in text.splitlines():
        depth = (len(line) - len(line.lstrip())) // 2
        name, _, value = re.fullmatch(r'\s*("(?:[^"\\]|\\.)*"|[A-Za-z_$][\w-]*)(:)(?: (.*))?', line).groups()  # type: ignore[union-attr]
        del levels[depth + 1 :]
        key = json.loads(name) if name.startswith('"') else name
        levels[depth][key] = {} if value is None else json.loads(value)
        levels += [] if value is not None else [levels[depth][key]]
    return root


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


READERS: dict[str, Callable[[str], Any]] = {"json": json.loads, "toml": tomllib.loads, "yaml": read_yaml}


@pytest.mark.parametrize("value", HOSTILE)
def test_files_and_links_contain_exactly_the_configuration(value: str) -> None:
    for setups in setups_of(value):
        for text, members in groups_of(setups.setups):
            for setup in members:
                assert READERS[setup.editor.form](text) == setup.config
        for setup in setups.setups:
            for name, url in install_links(setup):
                assert len(url) <= MAX_LINK
                assert setup.link is not None
                if name == "Cursor":
                    assert decoded_cursor(url) == setup.link
                elif name != "LM Studio":
                    assert decoded_vscode(url) == setup.link[1]


def test_hostile_values_reach_the_encoders() -> None:
    """Fixed texts of arguments and headers are allowed, so the encoding is what protects."""
    found = [value for value in HOSTILE for setups in setups_of(value) if value in repr(setups)]
    assert len(found) > len(HOSTILE)


@settings(max_examples=150, deadline=None)
@given(st.dictionaries(st.text(min_size=1, max_size=20), st.text(max_size=40), max_size=4), st.text(max_size=20))
def test_links_can_be_decoded_whatever_the_texts(server: dict[str, str], name: str) -> None:
    for scheme in ("vscode", "vscode-insiders"):
        assert decoded_vscode(vscode_link(scheme, server)) == server
    if name:
        assert decoded_cursor(cursor_link(name, server)) == (name, server)


CURSOR = next(editor for editor in EDITORS if editor.id == "cursor")


def test_long_links_and_texts_are_left_out() -> None:
    config = {"mcpServers": {"a": {"command": "npx", "args": ["x" * MAX_LINK]}}}
    assert install_links(Setup(CURSOR, config, link=("a", config))) == []
    long = Setup(CURSOR, {"mcpServers": {"a": {"command": "npx", "args": ["x" * MAX_TEXT]}}})
    assert groups_of([long]) == [("", [long])]


def test_editors_with_one_format_share_a_text() -> None:
    package = {"registryType": "npm", "identifier": "a", "version": "1.0.0", "transport": {"type": "stdio"}}
    [option] = install_options(NAME, mcp_id_of(NAME), [package], [])
    assert option.setups is not None
    groups = groups_of(option.setups.setups)
    texts = [text for text, _ in groups]
    assert len(texts) == len(set(texts)) < len(option.setups.setups) / 2
    assert {setup.editor.id for _, members in groups for setup in members} == {
        setup.editor.id for setup in option.setups.setups
    }


def test_a_description_in_angle_brackets_is_no_value_to_replace() -> None:
    secret = {"name": "KEY", "description": "Your <token>.", "isRequired": True, "isSecret": True}
    package = {"registryType": "npm", "identifier": "a", "transport": {"type": "stdio"}}
    [option] = install_options(NAME, mcp_id_of(NAME), [{**package, "environmentVariables": [secret]}], [])
    assert option.setups is not None
    found = {setup.editor.id: has_placeholders(setup) for setup in option.setups.setups}
    assert (found["vscode"], found["zed"]) == (False, True)


def test_each_shell_has_a_line_that_sets_a_variable() -> None:
    assert dict(exports("A_KEY", "mcpd_1")) == {
        "zsh, bash": "export A_KEY='mcpd_1'",
        "fish": "set -gx A_KEY 'mcpd_1'",
        "PowerShell": "$env:A_KEY = 'mcpd_1'",
    }


def test_links_of_an_entry_page_have_allowed_schemes(
    get_page: GetPage, server: Server, subtests: pytest.Subtests
) -> None:
    for value in HOSTILE:
        hostile = hostile_entry(value)
        server.publish(hostile)
        response = get_page(f"/servers/{hostile.mcp_id}")
        with subtests.test(value):
            page = Document(response)
            schemes = {urlsplit(link).scheme for link in page.links}
            assert schemes <= {"", *LINK_SCHEMES}
            # Some values make every package and remote unavailable.
            assert (schemes > {""}) == any(setups_of(value))
            assert not page.all("img")[1:]
            assert b"alert(1)</script>" not in response.body
            for attributes in page.all("details"):
                assert set(attributes) <= {"name", "class", "data-editors", "open"}


def test_an_entry_page_has_every_way_and_every_editor(get_page: GetPage, server: Server) -> None:
    token = {"name": "MAIL_TOKEN", "description": "A token.", "isRequired": True, "isSecret": True}
    package = {"registryType": "npm", "identifier": "@a/mail", "version": "1.2.3", "transport": {"type": "stdio"}}
    urls = [f"https://{number}.example.org/mcp" for number in range(4)]
    mail = entry(
        "io.github.example/post",
        packages=[{**package, "environmentVariables": [token, {"name": "REGION", "description": "Where."}]}],
        remotes=[{"type": "streamable-http", "url": url} for url in urls],
    )
    server.publish(mail)
    variable = f"MCP_{mail.mcp_id[-12:].upper()}_MAIL_TOKEN"
    pages = {
        editor.id: Document(get_page(f"/servers/{mail.mcp_id}", Cookie=f"editor={editor.id}")) for editor in EDITORS
    }
    for page in pages.values():
        ways = [each for each in page.all("details") if each.get("class") == "way"]
        assert ["open" in each for each in ways] == [True] + [False] * 4
        assert {link for link in page.links if link.startswith("?editor=")} == {
            f"?editor={editor.id}#install" for editor in EDITORS
        }
        for expected in ("Recommended", "A token.", "1 optional value, left out", *urls):
            assert expected in page.text, expected
        assert "REST API" not in page.text
    for editor, text in (
        *(("vscode", "Install in VS Code"), ("vscode", "VS Code Insiders")),
        *(("cursor", f"export {variable}='…'"), ("codex", "~/.codex/config.toml")),
        ("vscode", "VS Code asks for your key when it starts and keeps it safe."),
        ("cursor", "Cursor sees the variable only if you start it from that shell."),
        ("gemini", "Gemini CLI connects to servers only in folders that you trust."),
        ("zed", "Put the value into the file in place of the angle brackets"),
        ("goose", "~/.config/goose/config.yaml"),
        ("opencode", "~/.config/opencode/opencode.json"),
        ("claude-code", "claude mcp add --scope user"),
    ):
        assert text in pages[editor].text, text


@pytest.mark.parametrize(
    ("query", "stored", "editor"),
    [("?editor=codex", "zed", "codex"), ("", "zed", "zed"), ("?editor=x", "zed", "zed"), ("?editor=", "'", "vscode")],
)
def test_the_link_decides_the_editor_before_the_cookie(
    get_page: GetPage, server: Server, query: str, stored: str, editor: str
) -> None:
    package = {"registryType": "npm", "identifier": "a", "version": "1.0.0", "transport": {"type": "stdio"}}
    published = entry("io.github.example/post", packages=[package])
    server.publish(published)
    page = Document(get_page(f"/servers/{published.mcp_id}{query}", Cookie=f"editor={stored}"))
    assert [each["href"] for each in page.all("a") if "aria-current" in each] == [f"?editor={editor}#install"]
    assert [each["data-editor"] for each in page.all("div") if "data-editor" in each] == [editor]


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


def test_an_entry_without_install_data_leads_to_the_readme_and_the_repository(
    get_page: GetPage, server: Server
) -> None:
    repository = {"url": "https://github.com/example/bare", "source": "github"}
    bare = entry("io.github.example/bare", repository=repository, _meta={PUBLISHER: {"readme": "# Steps"}})
    server.publish(bare)
    page = Document(get_page(f"/servers/{bare.mcp_id}"))
    assert "The publisher has not said how to install this server. Its README has the steps:" in page.text
    buttons = [each["href"] for each in page.all("a") if "button" in (each.get("class") or "")]
    assert buttons == ["#readme", "https://github.com/example/bare"]
