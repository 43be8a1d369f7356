"""Texts that a publisher fixes, and that a person must read before use: arguments that may be code, and hosts.

A package may run its arguments, and no list of such packages is complete. Both checks therefore bound the form of the
texts, whatever the package.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ..texts import hosts
from ._notices import Notice, Unusable, warning
from ._server_config import INPUT, Template, flat

MAX_HOSTS = 5
"""Hosts in the texts of one package, each with a warning."""

_SHOWN = 60
"""Characters of a host in a warning, its end, because the end says whose it is."""

_VALUE = (
    rf"{INPUT}|[+-]?[0-9]+(?:\.[0-9]+)?|true|false|yes|no|on|off|all|none|auto|default|debug|info|warn(?:ing)?|error"
    r"|stdio|sse|https?|streamable[-_]?http|mcp|serve|server|start|localhost|127\.0\.0\.1|0\.0\.0\.0|::1?"
)
"""Values that name no program, URL, code or package."""

_PLAIN_ARGUMENT = re.compile(rf"(?:--[A-Za-z][A-Za-z0-9_-]*=)?(?:{_VALUE})|--[A-Za-z][A-Za-z0-9_-]*|-[A-Za-z]", re.I)

_CODE_OPTION = re.compile(r"-[cemrx]")
"""Options by which interpreters and runners take code, a module or a command."""

_AUTHORITY = re.compile(
    r"(?:(?:https?|wss?|ftp):[/\\]*|(?<=:[/\\])[/\\])(?P<authority>[^\s/\\?#&\"'<>|,;]+)", re.IGNORECASE
)
"""What follows the scheme of a URL. URL parsers of browsers take `https:host` and `https:\\host` for URLs too."""

_UNC = re.compile(
    r"(?:(?<![^\s=,;\"'@+(){}|<>\[\]])|(?<=-[A-Za-z])|(?<=\w\w:)(?=\\)|(?<=file:))"
    r"[/\\]{2}(?:[/\\]{2})?(?:[?.][/\\](?:UNC[/\\])?)?+"
    r"(?!(?:[A-Za-z]:)?(?:[/\\]|$))(?P<host>[^\s/\\\"'<>|,;]+)",
    re.IGNORECASE,
)
"""The host of a path on a share of Windows: any host, since it serves files to the reader of the path."""

_LABEL = rf"[\w{INPUT}](?:[\w{INPUT}-]*[\w{INPUT}])?"

_NAME = re.compile(
    rf"(?<![\w{INPUT}./\\-])(?P<authority>(?:{_LABEL}[.。．｡])+(?:(?:[^\W\d_]|{INPUT}){{2,63}}|xn--[a-z0-9-]+)\.?|[0-9]{{1,3}}(?:\.[0-9]{{1,3}}){{3}})"
    rf"(?![\w{INPUT}-])(?!\.[\w{INPUT}])",
    re.IGNORECASE,
)
"""A host name with a dot, or an IPv4 address, without a scheme. A part of a path is none."""

_FILE = re.compile(
    r".*\.(?:json[lc5]?|ya?ml|toml|ini|cfg|conf|env|db|sqlite3?|duckdb|txt|log|csv|xml|html?|js|ts|lock|pem)", re.I
)
"""Names of files, whose suffixes are no top-level domains."""


def fixed_warnings(arguments: Iterable[Template], others: Iterable[Template]) -> Iterator[Notice]:
    """Yield warnings about the `arguments` of a package, and the hosts in these and `others`. Raises Unusable."""
    arguments = list(arguments)
    code = [flat(text) for text in arguments if not _is_plain(flat(text))]
    if code:
        yield warning("arguments", " ".join(code).replace(INPUT, "…"))
    names = dict.fromkeys(name for text in (*arguments, *others) for name in _hosts_in(flat(text)))
    if len(names) > MAX_HOSTS:
        raise Unusable("hosts", str(MAX_HOSTS))
    for name in names:
        yield warning("fixed_host", name if len(name) <= _SHOWN else f"…{name[-_SHOWN:]}")


def _is_plain(word: str) -> bool:
    return bool(_PLAIN_ARGUMENT.fullmatch(word)) and not _CODE_OPTION.fullmatch(word)


def _hosts_in(text: str) -> Iterator[str]:
    """Yield the hosts in `text` that are not in the user's own network, in ASCII if possible."""
    for match in _AUTHORITY.finditer(text):
        yield from _remote(match["authority"])
    for match in _UNC.finditer(text):
        if match["host"].strip(INPUT):
            yield match["host"].replace(INPUT, "…")
    for match in _NAME.finditer(text):
        if not _FILE.fullmatch(match["authority"]):
            yield from _remote(match["authority"])


def _remote(authority: str) -> Iterator[str]:
    # What precedes the last @ is user information. A number behind a colon is the port.
    host = re.sub(rf":(?:[0-9]*|{INPUT})$", "", authority.rpartition("@")[2]).strip("[]")
    if not host.strip(INPUT):
        return
    try:
        known = hosts.read(host.replace(INPUT, "x"))
    except ValueError:
        yield host.replace(INPUT, "…")
        return
    if known.scope == "public":
        yield host.replace(INPUT, "…") if INPUT in host else known.name
