"""Keeper: stores which entries are in which list, after the change log; and e-mails about requests that wait."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from hashlib import sha256
from types import MappingProxyType
from typing import Any

from attrs import define, field, frozen
from twisted.logger import Logger

from ...domain.changes import Change
from ...domain.entries import mcp_id_of
from ...domain.notes import FORMER
from ...domain.ports.access import SCOPES
from ...domain.ports.requests import MAIL, Mail
from ...domain.ports.runtime import Offload
from ...domain.ports.search import Matching
from ...domain.requests import Request, State
from ...feature.server import SERVICES, Server
from ...search import percolate
from ...services.follower import Followed, Follower
from ...tables import Storage
from ...texts.wording import counted
from .approvers import Approvers
from .requests import ListRequests
from .rules import EntryList
from .scopes import ReaderScopes
from .tables import Differences, Lists

REQUESTS = "/account/requests"

_log = Logger()

_ANSWERS: Mapping[State, str] = {
    "approved": "your request was approved",
    "declined": "your request was declined",
    "asked": "an approver has a question about your request",
    "open": "a new version waits for an approver",
}
"""Subjects of e-mails to members by the state of a request."""


@contextmanager
def _logged() -> Iterator[None]:
    """Log errors: what the e-mails are about is stored already."""
    try:
        yield
    except Exception:
        _log.failure("E-mails about requests are not sent")


@frozen
class RequestMails:
    """Sends e-mails about requests, if there is a mail server. Errors are logged."""

    _storage: Storage
    _approvers: Approvers
    _mail: Mail | None

    async def tell_waiting(self, versions: Sequence[Request]) -> None:
        """Tell approvers and members that new versions wait."""
        await self.tell_approvers(versions)
        await self.tell_members(versions)

    async def tell_members(self, changed: Iterable[Request]) -> None:
        """Tell the members of requests their new states."""
        with _logged():
            for asked in changed if self._mail is not None else ():
                if asked.account is not None:
                    await self._send([asked.account], f"{asked.subject}: {_ANSWERS[asked.state]}", [asked])

    async def tell_approvers(self, waiting: Sequence[Request]) -> None:
        """Tell the approvers of lists which requests wait for them: an e-mail for each list, not about own requests."""
        with _logged():
            by_list: dict[str, list[Request]] = {}
            for asked in waiting if self._mail is not None else ():
                by_list.setdefault(asked.place, []).append(asked)
            for list_name, of_list in by_list.items():
                what = of_list[0].subject if len(of_list) == 1 else counted(len(of_list), "entry", "entries")
                verb = "waits" if len(of_list) == 1 else "wait"
                members = {asked.account for asked in of_list}
                approvers = [account for account in await self._approvers.accounts(list_name) if members != {account}]
                await self._send(approvers, f"{what}: {verb} for a decision on the list {list_name}", of_list)

    async def _send(self, accounts: Sequence[str], subject: str, about: Sequence[Request]) -> None:
        path = f"{REQUESTS}/{about[0].id}" if len(about) == 1 else REQUESTS
        for account in accounts:
            listed = await self._storage.people.roster.account(account)
            if self._mail is not None and listed is not None and listed.account.disabled_at is None:
                self._mail(listed.account.email, subject, path)


@define
class Keeper:
    """Writes the entries of lists.

    Documents of approved entries that wait for an approver become `requests`, which `tell` announces. `now` returns
    seconds since the epoch.
    """

    _lists: Lists
    _matching: Matching
    _offload: Offload
    _requests: ListRequests
    _tell: Callable[[Sequence[Request]], Awaitable[None]]
    _now: Callable[[], float]
    _followed: Sequence[EntryList] = field(default=(), init=False)
    """The lists at the last look, without those that have all entries."""

    def follower(self, storage: Followed, clock: Any, announce: Callable[[], None]) -> Follower:
        """Return the service. A list that is added, changed or removed makes it match all entries again."""
        return Follower(
            storage,
            clock,
            announce,
            "entries of lists",
            self._apply,
            version=self._version,
            complete=self._complete,
            ruled=False,
        )

    async def _version(self) -> str:
        self._followed = await self._selected()
        known = [(entry_list.name, entry_list.created_at, abs(entry_list.revision)) for entry_list in self._followed]
        return sha256(repr(known).encode()).hexdigest()[:32]

    async def _apply(self, changes: Sequence[Change]) -> bool:
        """Write the lists that entries join or leave."""
        names = {entry_list.name for entry_list in self._followed}
        if not names:
            return False
        # Read after the changes, so that an entry which was picked meanwhile is not taken out again.
        lists = [entry_list for entry_list in await self._selected() if entry_list.name in names]
        selected = [entry_list.name for entry_list in lists]
        picks, followed = await self._lists.picks(selected), await self._lists.picks(selected, followed=True)
        differing = await self._offload(differences, changes, lists, picks, self._matching, followed)
        is_changed = bool(differing) and await self._lists.write(differing) > 0
        if any(entry_list.holds_versions for entry_list in lists):
            visible = [change.mcp_id for change in changes if change.body is not None]
            if waiting := await self._requests.wait(visible, self._now()):
                await self._tell(waiting)
                return True
        return is_changed

    async def _complete(self) -> bool:
        """Take entries out of lists that are no more, or have all entries now, and show the lists that are complete."""
        is_changed = False
        while leftovers := await self._lists.leftovers():
            await self._lists.write({mcp_id: ((), names) for mcp_id, names in leftovers.items()})
            is_changed = True
        await self._lists.complete([entry_list for entry_list in self._followed if not entry_list.is_ready])
        return is_changed

    async def _selected(self) -> Sequence[EntryList]:
        return [entry_list for entry_list in await self._lists.all() if not entry_list.is_all]


def differences(
    changes: Sequence[Change],
    lists: Sequence[EntryList],
    picks: Mapping[str, Collection[str]],
    matching: Matching,
    followed: Mapping[str, Collection[str]] = MappingProxyType({}),
) -> Differences:
    """Return the lists that the entries of `changes` join and leave, by mcp_id.

    Entries that have moved join those that have a former name of them in `followed`. A removed entry stays in its
    lists, so that their readers learn of the removal.
    """
    names = {entry_list.name for entry_list in lists}
    rules = {entry_list.rule for entry_list in lists if entry_list.rule}
    chosen, moving = _ids(picks), _ids(followed)
    differing: dict[str, tuple[Sequence[str], Sequence[str]]] = {}
    for change in changes:
        if change.body is None:
            continue
        matched = matching(change, rules)
        former = {mcp_id_of(note.other) for note in change.notes if note.kind == FORMER}
        wanted = {
            entry_list.name
            for entry_list in lists
            if entry_list.rule in matched
            or change.mcp_id in chosen.get(entry_list.name, ())
            or not former.isdisjoint(moving.get(entry_list.name, ()))
        }
        present = names.intersection(change.lists)
        if wanted != present:
            differing[change.mcp_id] = sorted(wanted - present), sorted(present - wanted)
        else:
            differing.pop(change.mcp_id, None)
    return differing


def _ids(names: Mapping[str, Collection[str]]) -> Mapping[str, Set[str]]:
    """Return the ids of entries in place of their names."""
    return {list_name: set(map(mcp_id_of, of_list)) for list_name, of_list in names.items()}


def run(server: Server) -> None:
    """Add what decides the scopes of requests, and what keeps the entries of lists."""
    storage = server.storage
    mails = RequestMails(storage, Approvers(storage.background_tables, storage), server.get(MAIL))
    keeper = Keeper(
        lists=Lists(storage.background_tables),
        matching=percolate,
        offload=server.offload,
        requests=ListRequests(storage.background_tables),
        tell=mails.tell_waiting,
        now=server.now,
    )
    server.add(SERVICES, keeper.follower(storage, server.reactor, server.bus.announce))
    server.set(SCOPES, ReaderScopes(storage.tables, server.now))
