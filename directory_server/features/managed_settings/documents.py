"""The documents of managed settings: `managed-settings.json` of Copilot and of Claude Code, `managed-mcp.json`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal, get_args

from attrs import define, field, frozen

from ...client_config import Notice, Rule, deployments
from ...domain.entries import Entry
from ...texts.sanitize import clean_line

FileName = Literal["copilot.json", "claude-code.json", "managed-mcp.json"]

FILES: tuple[FileName, ...] = get_args(FileName)

MESSAGES: Mapping[str, str] = MappingProxyType(
    {
        "input": "The user enters a part of the URL or of the command, and rules compare the whole of it.",
        "wildcard": "The URL contains a *, which rules cannot express: it would match other URLs.",
        "url": "The URL is not in the normal form that clients compare.",
        "allowed": "An allowed entry has the same URL or command, so it is not denied.",
        "review": "Not in managed-mcp.json: the user must enter a value or read the warnings on its page first.",
        "none": "It has no package or remote.",
        "unchosen": "Not in managed-mcp.json: nobody has picked, approved, allowed or pinned it by its name.",
        "marked": "Not in managed-mcp.json: its texts have marks that no operator has accepted.",
    }
)
"""Messages of warnings by code. Other codes are those of `client_config.REASONS`."""


@frozen
class Warning:
    """A part of an entry that a document does not contain: the entry, its package or remote, and the reason."""

    server: str
    source: str
    code: str
    message: str


@frozen
class Policy:
    """The rules of the selected and of the hidden entries, the names of these, and the servers to deploy by key."""

    allowed: Sequence[Rule]
    denied: Sequence[Rule]
    denied_names: Sequence[str]
    servers: Mapping[str, Mapping[str, Any]]
    warnings: Sequence[Warning]

    def document(self, file: FileName) -> Mapping[str, Any]:
        """Return the content of a file.

        `serverName` is only in the deny list of Copilot, whose gallery installs a server under its registry name. Users
        choose names, so a name in an allow list would allow any server.
        """
        if file == "managed-mcp.json":
            return {"mcpServers": self.servers}
        names = [{"serverName": name} for name in self.denied_names] if file == "copilot.json" else []
        return {
            "allowedMcpServers": [_matcher(rule) for rule in self.allowed],
            "deniedMcpServers": [*(_matcher(rule) for rule in self.denied), *names],
            "allowManagedMcpServersOnly": True,
        }


def _matcher(rule: Rule) -> Mapping[str, Any]:
    return {"serverUrl": rule.url} if rule.url else {"serverCommand": list(rule.command)}


@define
class PolicyBuilder:
    """Collects the rules of entries, in their order."""

    has_entries: bool = field(default=False, init=False)
    _allowed: dict[Rule, None] = field(factory=dict, init=False)
    _denied: dict[Rule, tuple[str, str]] = field(factory=dict, init=False)
    _denied_names: list[str] = field(factory=list, init=False)
    _servers: dict[str, Mapping[str, Any]] = field(factory=dict, init=False)
    _warnings: list[Warning] = field(factory=list, init=False)

    def allow(self, entry: Entry, withheld: str = "") -> None:
        """Allow each package and remote of an entry, and deploy the first one that needs no edits.

        With `withheld`, the code of a warning, none is deployed.
        """
        self.has_entries = True
        key, found = _deployments(entry)
        definition = None
        for kind, name, deployment in found:
            if isinstance(deployment, Notice):
                self._warn(entry, f"{kind} {name}", deployment.code, deployment.message)
                continue
            if isinstance(deployment.rule, Rule):
                self._allowed[deployment.rule] = None
            else:
                self._warn(entry, f"{kind} {name}", deployment.rule)
            definition = definition or deployment.definition
        if not found:
            self._warn(entry, "", "none")
        elif withheld:
            self._warn(entry, "", withheld)
        elif definition is not None:
            self._servers[key] = definition
        elif any(not isinstance(deployment, Notice) for _, _, deployment in found):
            self._warn(entry, "", "review")

    def deny(self, entry: Entry) -> None:
        """Deny each package and remote of an entry."""
        self._denied_names.append(entry.name)
        for kind, name, deployment in _deployments(entry)[1]:
            if isinstance(deployment, Notice):
                continue
            if isinstance(deployment.rule, Rule):
                self._denied[deployment.rule] = entry.name, f"{kind} {name}"
            else:
                self._warn(entry, f"{kind} {name}", deployment.rule)

    def policy(self) -> Policy:
        """Return what was collected. An editor denies what is in both lists, so allowed rules are not denied."""
        both = [
            Warning(*self._denied[rule], "allowed", MESSAGES["allowed"])
            for rule in self._denied
            if rule in self._allowed
        ]
        return Policy(
            allowed=[*self._allowed],
            denied=[rule for rule in self._denied if rule not in self._allowed],
            denied_names=self._denied_names,
            servers=self._servers,
            warnings=[*self._warnings, *both],
        )

    def _warn(self, entry: Entry, source: str, code: str, message: str = "") -> None:
        self._warnings.append(Warning(entry.name, clean_line(source, 200), code, message or MESSAGES[code]))


def _deployments(entry: Entry) -> tuple[str, Sequence[tuple[str, str, Any]]]:
    return deployments(entry.name, entry.mcp_id, entry.packages, entry.remotes)
