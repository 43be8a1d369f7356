"""Install links, commands and configuration files, from the setups of `client_config`.

Every value of an entry is encoded for its place. What a place cannot hold safely is left out.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from ... import serialization
from ...client_config import EDITORS, Editor, Setup
from ...http import Request
from ...http.headers import cookie
from ..forms import parameters
from ._entries import package_name

LINK_SCHEMES = ("vscode", "vscode-insiders", "cursor", "lmstudio")
"""The only schemes of install links."""

MAX_LINK = 2_000
"""Characters of an install link. Browsers on Windows do not pass longer ones on."""

MAX_TEXT = 4_000
"""Characters of one configuration on the page."""

EDITOR = "editor"
"""The query parameter and the cookie with the id of an editor."""

HOSTED = frozenset({"streamable-http", "sse"})
"""The kinds of installation without a package."""

_PLACEHOLDER = re.compile(r"<[A-Za-z0-9_-]+>")

_FORMS: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "json": serialization.pretty,
    "toml": serialization.toml,
    "yaml": serialization.yaml,
}

Group = tuple[str, Sequence[Setup]]
"""A text, and the setups whose file it is."""


def way_name(kind: str) -> str:
    """Return the name of a way of installation: `hosted`, or where its package comes from."""
    return "hosted" if kind in HOSTED else package_name(kind)


def chosen_editor(request: Request) -> Editor:
    """Return the editor in the query string, else in the cookie that the script of the pages sets, else the first."""
    ids = parameters(request).get(EDITOR), cookie(request, EDITOR)
    return next((editor for wanted in ids for editor in EDITORS if editor.id == wanted), EDITORS[0])


def groups_of(setups: Sequence[Setup]) -> Sequence[Group]:
    """Return the text of each configuration once, with the setups that share it, in the order of the first ones.

    A text of more than MAX_TEXT characters is empty.
    """
    groups: dict[str, list[Setup]] = {}
    for setup in setups:
        groups.setdefault(_FORMS[setup.editor.form](setup.config), []).append(setup)
    return [(text if len(text) <= MAX_TEXT else "", members) for text, members in groups.items()]


def has_placeholders(setup: Setup) -> bool:
    """Return whether the user must replace values in angle brackets."""
    # Descriptions of inputs are no values.
    return any(_has_placeholder(value) for name, value in setup.config.items() if name != "inputs")


def install_links(setup: Setup) -> Sequence[tuple[str, str]]:
    """Return the name and the URL of each link that installs the server in an editor."""
    if setup.link is None:
        return []
    links = [(name, build(*setup.link)) for name, build in _LINKS.get(setup.editor.id, {}).items()]
    return [(name, url) for name, url in links if len(url) <= MAX_LINK and url.partition(":")[0] in LINK_SCHEMES]


def vscode_link(scheme: str, server: Mapping[str, Any]) -> str:
    """Return the link that installs `server` in VS Code, or in its Insiders edition."""
    return f"{scheme}:mcp/install?{quote(_json(server), safe='')}"


def cursor_link(name: str, server: Mapping[str, Any]) -> str:
    return _link_with_config("cursor://anysphere.cursor-deeplink/mcp/install", name, server)


def exports(variable: str, value: str) -> Sequence[tuple[str, str]]:
    """Return the line that sets an environment variable, by the names of the shells that read it.

    The value has only characters that mean nothing inside of single quotes.
    """
    return [
        ("zsh, bash", f"export {variable}='{value}'"),
        ("fish", f"set -gx {variable} '{value}'"),
        ("PowerShell", f"$env:{variable} = '{value}'"),
    ]


def _link_with_config(address: str, name: str, server: Mapping[str, Any]) -> str:
    config = b64encode(_json(server)).decode()
    return f"{address}?name={quote(name, safe='')}&config={quote(config, safe='')}"


_LINKS: Mapping[str, Mapping[str, Callable[[str, Mapping[str, Any]], str]]] = {
    "vscode": {
        "VS Code": lambda _, server: vscode_link("vscode", server),
        "VS Code Insiders": lambda _, server: vscode_link("vscode-insiders", server),
    },
    "cursor": {"Cursor": cursor_link},
    "lmstudio": {"LM Studio": lambda name, server: _link_with_config("lmstudio://add_mcp", name, server)},
}


def _json(value: Mapping[str, Any]) -> bytes:
    # VS Code decodes a link twice: %22 in a value would end a string of the JSON. The escape has no percent sign.
    return serialization.encode(value).replace(b"%", rb"\u0025")


def _has_placeholder(value: object) -> bool:
    if isinstance(value, Mapping):
        return any(_has_placeholder(part) for pair in value.items() for part in pair)
    if isinstance(value, list):
        return any(map(_has_placeholder, value))
    return isinstance(value, str) and bool(_PLACEHOLDER.search(value))
