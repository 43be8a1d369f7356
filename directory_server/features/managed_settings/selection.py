"""Selection of the entries that managed settings allow, and of those that they deny."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal, get_args

from attrs import define, evolve, field, frozen

from ... import serialization
from ...client_config import Notice, Rule, deployments
from ...domain.changes import Change
from ...domain.endings import Ending, ending_of
from ...domain.entries import Entry, mcp_id_of
from ...domain.errors import BadInput, NotFound
from ...domain.kinds import SERVER, kind_of
from ...domain.notes import ACCEPTED, ENDING, Note, accepted_marks
from ...domain.ports.runtime import Offload
from ...domain.ports.storage import Store
from ...domain.scopes import Scope
from ...domain.withholding import entry_marks
from ...search import TextAnalysis, percolate
from ...tables import StoredCuration, Tables, notes_of_kinds
from ...texts.sanitize import clean_line

MAX_ENTRIES = 5_000
"""Entries of a selection, and as many hidden ones."""

STEP = 50
"""Entries that are read and converted in one step, in a thread."""


_PICKED = "SELECT name FROM list_pick WHERE list = :name"


@frozen
class Selection:
    """Reads the entries for managed settings: the curated ones, or those of a list, allow, the hidden ones deny.

    Only entries that somebody has chosen by name are deployed: a publisher can write what the rule of a list selects.
    """

    store: Store
    _curation: StoredCuration
    _offload: Offload
    _tables: Tables
    _analysis: TextAnalysis = field(factory=TextAnalysis)
    _list: str = ""

    def within(self, scope: Scope, name: str = "") -> Selection:
        """Return the selection of the entries within `scope`; of all these if it is that of the list `name`."""
        return evolve(self, store=self.store if scope is None else self.store.within(scope), list=name)

    async def policy(self, keywords: str) -> Policy:
        """Return the policy of the selected entries. Raises BadInput for the keywords, and NotFound without an entry.

        An empty allow list would block all servers.
        """
        if keywords:
            serialization.search_query(keywords, 1)
        builder, curated = PolicyBuilder(), await self._curation.curated()
        chosen = {flags.name for flags in curated if flags.local or flags.pinned or flags.allowed}
        chosen.update([name for (name,) in await self._tables.select(_PICKED, name=self._list)])
        notes = await self._tables.read(lambda rows: notes_of_kinds(rows, [ACCEPTED, ENDING]))
        moved = {name: ending.replaced_by for name in chosen if (ending := _move_of(name, notes))}
        chosen.update(moved.values())
        allowed: set[str] = set()

        def allow(entry: Entry) -> None:
            allowed.add(entry.name)
            builder.allow(entry, _withheld(entry, chosen, accepted_marks(notes.get(entry.mcp_id, ()))))

        await self._add_all(self._selected(), keywords, allow)
        # Machines that have the old name get the new one too.
        others = sorted({new for old, new in moved.items() if old in allowed} - allowed)
        await self._add_all(self._latest(others, include_hidden=False), "", allow)
        if not builder.has_entries:
            selected = f"is in the list {self._list!r}" if self._list else "is curated"
            matching = f" and matches {keywords!r}" if keywords else ""
            raise NotFound(f"No entry {selected}{matching}. An empty allow list would block all servers.")
        await self._add_all(self._latest([flags.name for flags in curated if flags.hidden]), "", builder.deny)
        return builder.policy()

    async def _add_all(
        self, steps: AsyncIterator[Sequence[bytes]], keywords: str, add: Callable[[Entry], None]
    ) -> None:
        count = 0

        def convert(bodies: Sequence[bytes]) -> int:
            restored = map(serialization.restore_entry, bodies)
            # Editors start servers only.
            servers = [entry for entry in restored if kind_of(entry.name) == SERVER]
            entries = [entry for entry in servers if self._matches(entry, keywords)]
            for entry in entries:
                add(entry)
            return len(entries)

        async for bodies in steps:
            count += await self._offload(convert, bodies)
            if count > MAX_ENTRIES:
                raise BadInput(
                    f"keywords: must select at most {MAX_ENTRIES:,} entries. Add a filter, such as category:…"
                )

    def _matches(self, entry: Entry, keywords: str) -> bool:
        if not keywords:
            return True
        change = Change(0, "added", "", b"", self._analysis(entry))
        return bool(percolate(change, (keywords,)))

    async def _selected(self) -> AsyncIterator[Sequence[bytes]]:
        """Yield the latest versions of the curated entries, or of those of the list, ordered by name."""
        after = ("", "")
        while versions := await self.store.listing(after, STEP, curated=not self._list):
            yield [version.body for version in versions if not version.deleted]
            after = versions[-1].name, versions[-1].version

    async def _latest(self, names: Sequence[str], *, include_hidden: bool = True) -> AsyncIterator[Sequence[bytes]]:
        """Yield the latest versions of entries, in the order of `names`."""
        for name in names:
            version = await self.store.version(name, "latest", include_hidden=include_hidden)
            if version is not None and not version.deleted:
                yield [version.body]


def _move_of(name: str, notes: Mapping[str, Sequence[Note]]) -> Ending | None:
    ending = ending_of(name, notes.get(mcp_id_of(name), ()))
    return ending if ending is not None and ending.state == "moved" else None


def _withheld(entry: Entry, chosen: Collection[str], accepted: Collection[str]) -> str:
    """Return the code of the warning why an entry is not deployed, empty if it is."""
    if entry.name not in chosen:
        return "unchosen"
    return "marked" if any(mark.id not in accepted for mark in entry_marks(entry)) else ""


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
        key, deployments = _deployments(entry)
        definition = None
        for kind, name, deployment in deployments:
            if isinstance(deployment, Notice):
                self._warn(entry, f"{kind} {name}", deployment.code, deployment.message)
                continue
            if isinstance(deployment.rule, Rule):
                self._allowed[deployment.rule] = None
            else:
                self._warn(entry, f"{kind} {name}", deployment.rule)
            definition = definition or deployment.definition
        if not deployments:
            self._warn(entry, "", "none")
        elif withheld:
            self._warn(entry, "", withheld)
        elif definition is not None:
            self._servers[key] = definition
        elif any(not isinstance(deployment, Notice) for _, _, deployment in deployments):
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
