"""Install links, commands and configuration files, from the setups of `client_config`.

Every value of an entry is encoded for its place. What a place cannot hold safely is left out.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from attrs import frozen

from ... import serialization
from ...client_config import InstallOption, Missing, Notice, Setup, SetupInput, Setups
from ._commands import Command, commands

LINK_SCHEMES = ("vscode", "vscode-insiders", "cursor")
"""The only schemes of install links."""

MAX_LINK = 2_000
"""Characters of an install link. Browsers on Windows do not pass longer ones on."""

MAX_TEXT = 4_000
"""Characters of one configuration on the page. Longer ones are only in the detail record."""

MAX_TEXTS = 30_000
"""Characters of all configurations on a page."""


@frozen
class InstallLink:
    """A link that installs the server in the editor `name`."""

    name: str
    url: str


@frozen
class EditorView:
    """Setup of the server in an editor: the `file` with its `text`, links, and a command for each shell."""

    id: str
    name: str
    file: str
    text: str
    secrets: str
    links: Sequence[InstallLink]
    commands: Sequence[Command]

    @property
    def has_placeholders(self) -> bool:
        """Whether the user must replace values in angle brackets."""
        return bool(re.search(r"<[A-Za-z0-9_-]+>", self.text))


@frozen
class OptionView:
    """A package or remote: its setups, or the reason why there are none.

    `too_long` are the names of editors whose configuration is too long for the page.
    """

    name: str
    editors: Sequence[EditorView] = ()
    inputs: Sequence[SetupInput] = ()
    missing: Sequence[Missing] = ()
    too_long: Sequence[str] = ()
    warnings: Sequence[Notice] = ()
    reason: Notice | None = None
    needs_review: bool = False

    @property
    def variables(self) -> Sequence[SetupInput]:
        """The secrets that the configurations contain."""
        return [each for each in self.inputs if each.variable]


def option_views(options: Sequence[InstallOption]) -> Sequence[OptionView]:
    """Return the views of the installations, within MAX_TEXTS characters."""
    left = MAX_TEXTS
    views = []
    for option in options:
        if option.setups is None:
            views.append(OptionView(option.name, warnings=option.warnings, reason=option.unavailable))
            continue
        editors, too_long = _within(editor_views(option.setups), left)
        left -= sum(len(editor.text) for editor in editors)
        inputs, missing = option.setups.inputs, option.setups.missing
        review = option.setups.needs_review
        views.append(OptionView(option.name, editors, inputs, missing, too_long, option.warnings, needs_review=review))
    return views


def editor_views(setups: Setups) -> Sequence[EditorView]:
    """Return the views of setups, in their order."""
    return [
        EditorView(
            setup.id,
            setup.name,
            setup.file,
            serialization.toml(setup.config) if setup.is_toml else serialization.pretty(setup.config),
            setup.secrets,
            list(_links(setup)),
            commands(setup.command),
        )
        for setup in setups.setups
    ]


def vscode_link(scheme: str, server: Mapping[str, Any]) -> str:
    """Return the link that installs `server` in VS Code, or in its Insiders edition."""
    return f"{scheme}:mcp/install?{quote(_json(server), safe='')}"


def cursor_link(name: str, server: Mapping[str, Any]) -> str:
    """Return the link that installs `server` in Cursor."""
    config = b64encode(_json(server)).decode()
    return f"cursor://anysphere.cursor-deeplink/mcp/install?name={quote(name, safe='')}&config={quote(config, safe='')}"


def _links(setup: Setup) -> Iterator[InstallLink]:
    links = []
    if setup.vscode_link is not None:
        names = {"vscode": "VS Code", "vscode-insiders": "VS Code Insiders"}
        links += [InstallLink(name, vscode_link(scheme, setup.vscode_link)) for scheme, name in names.items()]
    if setup.cursor_link is not None:
        links.append(InstallLink("Cursor", cursor_link(*setup.cursor_link)))
    for link in links:
        if len(link.url) <= MAX_LINK and link.url.partition(":")[0] in LINK_SCHEMES:
            yield link


def _json(value: Mapping[str, Any]) -> bytes:
    # VS Code decodes a link twice: %22 in a value would end a string of the JSON. The escape has no percent sign.
    return serialization.encode(value).replace(b"%", rb"\u0025")


def _within(editors: Sequence[EditorView], most: int) -> tuple[Sequence[EditorView], Sequence[str]]:
    """Return the editors whose texts fit, and the names of the others."""
    shown: list[EditorView] = []
    too_long: list[str] = []
    for editor in editors:
        if len(editor.text) <= min(MAX_TEXT, most):
            most -= len(editor.text)
            shown.append(editor)
        else:
            too_long.append(editor.name)
    return shown, too_long
