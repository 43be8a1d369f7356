"""E-mails about requests: to members about answers, to approvers about what waits for them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from attrs import frozen
from twisted.logger import Logger

from ...domain.ports.requests import Mail
from ...domain.requests import Request, State
from ...tables import Storage
from ...texts.wording import counted
from .approvers import Approvers

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
