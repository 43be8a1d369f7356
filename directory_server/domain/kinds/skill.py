"""Skills: files SKILL.md with a front matter, in folders or archives (agentskills.io/specification)."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from ..shapes import Issue, Text
from ._kind import Card, Described, Kind, Use

_FILE = Text(40_000, 1, is_raw=True)

_MATTER = re.compile(r"\ufeff?---[ \t]*\r?\n(.{0,20000}?)\r?\n---[ \t]*(?:\r?\n|$)", re.DOTALL)
"""The front matter: YAML between two lines of hyphens."""

_MEMBER = re.compile(r"^(name|description|license|version):(.{0,2000})$", re.MULTILINE)

_BLOCK = re.compile(r"[>|][+-]?")

_NAME = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?")


def front_matter(text: str) -> Mapping[str, str]:
    """Return the texts of the front matter of a skill: plain, quoted and folded scalars at its top level."""
    matter = _MATTER.match(text)
    found: dict[str, str] = {}
    for member in _MEMBER.finditer(matter[1]) if matter else ():
        # The first counts. All others would be read as often, to the end of the text.
        if member[1] in found:
            continue
        value = member[2].strip()
        if not value or _BLOCK.fullmatch(value):
            value = _indented(matter[1][member.end() + 1 :]) if matter else ""
        elif value[0] in "\"'" and value[-1] == value[0] and len(value) > 1:
            value = value[1:-1].replace("''", "'") if value[0] == "'" else value[1:-1].replace('\\"', '"')
        found[member[1]] = value
    return found


def _indented(text: str) -> str:
    """Return the indented lines at the beginning of a text as one."""
    lines = []
    for line in text.split("\n"):
        if line.strip() and not line.startswith((" ", "\t")):
            break
        lines.append(line.strip())
    return " ".join(filter(None, lines))


def _check(document: Any) -> Sequence[Issue]:
    if issues := _FILE(document, ""):
        return issues
    members = front_matter(document)
    missing = next((name for name in ("name", "description") if not members.get(name)), None)
    return [Issue("", f"must be a SKILL.md whose front matter has a {missing}.")] if missing else []


def _describe(document: str) -> Described:
    members, matter = front_matter(document), _MATTER.match(document)
    return Described(
        {"title": members["name"], "description": members["description"], "version": members.get("version")},
        {"license": members.get("license"), "readme": document[matter.end() :] if matter else document},
    )


def _uses(card: Card, name: str) -> Sequence[Use]:
    url = card.url
    if not url:
        return []
    path = url.partition("?")[0].lower()
    if path.endswith((".zip", ".tar.gz", ".tgz")):
        return [Use("archive", url)]
    if not is_file(url):
        return [Use("folder", url)]
    # A page of a file at GitHub is not the file.
    raw = re.sub(r"^https://github\.com/([^/]+/[^/]+)/blob/", r"https://raw.githubusercontent.com/\1/", url)
    folder = name.lower() if _NAME.fullmatch(name.lower()) else ""
    safe = folder and raw.startswith("https://")
    # With -g, a URL with [1-9999] is not that many requests.
    command = f"curl -gfsSL --create-dirs -o .claude/skills/{folder}/SKILL.md {shlex.quote(raw)}" if safe else ""
    return [Use("file", url, command)]


def is_file(url: str) -> bool:
    """Return whether a URL is that of a Markdown file."""
    return url.partition("?")[0].lower().endswith(".md")


KIND = Kind(
    name="skill",
    media_types=("application/ai-skill",),
    aliases=dict.fromkeys(
        (
            *("application/ai-skill+md", "application/agent-skills+md", "application/agent-skills+zip"),
            *("application/agent-skills+gzip", "application/agent-skill+md", "application/agent-skills"),
        ),
        "application/ai-skill",
    ),
    check=_check,
    describe=_describe,
    uses=_uses,
    # The page of a file at a code host is HTML.
    is_read=lambda url: is_file(url) and "/blob/" not in url,
    is_text=True,
)
