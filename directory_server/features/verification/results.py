"""Results of checks of remotes and packages, and how the tools of a remote have changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b, sha256
from typing import Any

from attrs import field, frozen

from ...domain.checks import LoginKind, PackageStatus, PackageTexts, RemoteStatus
from ...domain.marks import Mark
from ...domain.tools import title_of
from ...serialization import encode

MAX_TOOL_NAMES = 10_000
"""Bytes of the names of tools of one remote that are stored and indexed, with a separator each."""

MAX_SCHEMA = 8_192
"""Bytes of the JSON of a tool's input schema. A longer schema is dropped, and the tool is kept without it."""


@frozen
class FoundTool:
    """A tool that a remote listed. Its texts are cleaned and bounded.

    `input_schema` is compact JSON of at most MAX_SCHEMA bytes, "" if the remote gave none or a longer one. `hints` are
    those of `tools.HINTS` that it gave, `takes` the parameters on one line. `digest` is that of `tool_changes`. `marks`
    are those of its texts as the remote sent them.
    """

    name: str
    description: str = ""
    input_schema: str = ""
    title: str = ""
    hints: Mapping[str, bool] = field(factory=dict)
    takes: str = ""
    digest: str = ""
    marks: tuple[Mark, ...] = ()


@frozen
class RemoteCheck:
    """The result of one check of a remote. Times are seconds since the epoch.

    `protocol_version`, `server_name` and `server_version` are what the remote says of itself. `login` is set for
    NEEDS_LOGIN; `authorization_server` is the URL of the OAuth server if the remote names one. `redirected_to` is the
    first target of a redirect to another host or port. `latency` is the seconds from the connection to the first
    answer.
    `tools` are those of `tools/list`, of which MAX_TOOLS have their texts. `tool_count` is their number;
    `has_more_tools` says that the list was not read to its end. `other_transport` is the transport that the remote
    speaks if that is not the declared one. `retry_after` is the seconds that a busy remote asks to wait, 0 for none.
    `has_listed_tools` is whether it has answered the request for its tools. `tools_digest` is that of the whole list,
    see `tool_changes.list_digest`. `detail` is one cleaned
    sentence for an operator.
    """

    url: str
    transport: str
    checked_at: float
    status: RemoteStatus
    protocol_version: str = ""
    server_name: str = ""
    server_version: str = ""
    login: LoginKind | None = None
    authorization_server: str = ""
    redirected_to: str = ""
    latency: float | None = None
    tools: tuple[FoundTool, ...] = ()
    has_more_tools: bool = False
    detail: str = ""
    tool_count: int = 0
    other_transport: str = ""
    retry_after: float = 0.0
    has_listed_tools: bool = False
    tools_digest: str = ""


@frozen
class PackageCheck:
    """The result of one check of a package. Times are seconds since the epoch.

    `published_at` is of the entry's version. `deprecation` is the publisher's cleaned text. `names_server` says whether
    the package names the entry as its server, as the official registry requires; it is None if this is unknown.
    `texts` are None if its document was not read. `released_at` is of the latest version. `provenance` is the URL of
    the repository that the registry has attested as the source of the version, empty if it has none.
    """

    registry_type: str
    identifier: str
    version: str
    checked_at: float
    status: PackageStatus
    latest_version: str = ""
    published_at: float | None = None
    deprecation: str = ""
    names_server: bool | None = None
    detail: str = ""
    texts: PackageTexts | None = None
    released_at: float | None = None
    provenance: str = ""


def bounded_tools(tools: Sequence[FoundTool]) -> Sequence[FoundTool]:
    """Return the first tools whose names have at most MAX_TOOL_NAMES bytes together."""
    names = 0
    for number, tool in enumerate(tools):
        names += len(tool.name.encode()) + 1
        if names > MAX_TOOL_NAMES:
            return tools[:number]
    return tools


PARTS = ("title", "description", "input", "output", "hints")
"""What a digest of a tool tells apart."""

MAX_CHANGES = 20
"""Changes of the tools of a remote that are kept."""

MAX_NAMED = 10
"""Tools that a change names. All are counted."""

RISK = "!"
"""The last character of the digest of a tool that may delete."""

DIGEST = 8
"""Bytes of the digest of a part: nobody finds another text with the same one at will."""


@frozen
class ToolChange:
    """A change of the tools of a remote at `at`, in seconds since the epoch.

    `added`, `removed` and `changed` name the first MAX_NAMED tools each; a changed one has the names of its PARTS. The
    numbers count all. `may_delete` counts the tools that may delete by their hints and did not before.
    """

    at: float
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: Mapping[str, str] = field(factory=dict)
    added_count: int = 0
    removed_count: int = 0
    changed_count: int = 0
    may_delete: int = 0


def digest_of(tool: Mapping[str, Any]) -> str:
    """Return the digests of the PARTS of a tool in the form of `tools/list`, one after the other."""
    annotations = tool.get("annotations")
    values = (title_of(tool), tool.get("description"), tool.get("inputSchema"), tool.get("outputSchema"), annotations)
    return "".join(blake2b(_encoded(value), digest_size=DIGEST).hexdigest() for value in values)


def list_digest(documents: Iterable[tuple[str, bytes]]) -> str:
    """Return the SHA-256 of a list of tools: of the JSON array of their `documents`, sorted by name.

    Nobody finds two lists with the same one, so that others can compare a list with it. It is empty if there is no
    tool, or if one has no document.
    """
    bodies = [document for _, document in sorted(documents)]
    return sha256(b"[%s]" % b",".join(bodies)).hexdigest() if bodies and all(bodies) else ""


def _encoded(value: Any) -> bytes:
    try:
        return encode(value)
    except TypeError:
        # A number of more than 64 bits.
        return repr(value).encode("utf-8", "surrogatepass")


def may_delete(hints: Mapping[str, bool]) -> bool:
    """Return whether a tool may delete by its hints (MCP 2025-11-25, ToolAnnotations)."""
    is_hinted = "destructiveHint" in hints or hints.get("readOnlyHint") is False
    return is_hinted and hints.get("destructiveHint", True) and not hints.get("readOnlyHint", False)


def tool_change(before: Mapping[str, str], after: Mapping[str, str], at: float, *, is_whole: bool) -> ToolChange | None:
    """Return the change between two lists of tools, digests by name; None if they are equal.

    A digest ends with RISK if the tool may delete. Unless `is_whole`, only a part of the tools is known, and one that
    is absent was not removed.
    """
    added = [name for name in after if name not in before]
    removed = [name for name in before if name not in after] if is_whole else []
    changed = {
        name: _parts(before[name], after[name]) for name in after if before.get(name, after[name]) != after[name]
    }
    if not (added or removed or changed):
        return None
    risky = [name for name in (*added, *changed) if after[name].endswith(RISK)]
    return ToolChange(
        at=at,
        added=tuple(added[:MAX_NAMED]),
        removed=tuple(removed[:MAX_NAMED]),
        changed={name: changed[name] for name in list(changed)[:MAX_NAMED]},
        added_count=len(added),
        removed_count=len(removed),
        changed_count=len(changed),
        may_delete=sum(not before.get(name, "").endswith(RISK) for name in risky),
    )


def _parts(before: str, after: str) -> str:
    """Return the names of the PARTS that differ, separated by spaces."""
    size = 2 * DIGEST
    spans = {part: slice(number * size, (number + 1) * size) for number, part in enumerate(PARTS)}
    return " ".join(part for part, span in spans.items() if before[span] != after[span])
