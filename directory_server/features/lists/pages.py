"""Pages of lists and groups for operators, and the page of a member with her lists."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from attrs import frozen
from werkzeug.exceptions import NotFound as UnknownPath

from ...domain.errors import DirectoryError
from ...http import Request
from ...web.account import AccountRequests
from ...web.operator_requests import ADMIN, OperatorRequests
from .approvers import Approvers
from .groups import Groups
from .readers import name_of, reader_of
from .rules import MAX_RULE, MAX_TITLE, new_list
from .scopes import ReaderScopes
from .tables import Lists

LISTS, GROUPS, OWN = f"{ADMIN}/lists", f"{ADMIN}/groups", "/account/lists"

MAX_SHOWN = 200
"""Members of a group, and picked entries of a list, on a page. The command prints all."""


@frozen
class ListPages:
    """Handles the pages of operators. `_storage` has the adapters of all ports, `_announce` tells of their changes."""

    _requests: OperatorRequests
    _lists: Lists
    _groups: Groups
    _approvers: Approvers
    _storage: Any
    _now: Callable[[], float]
    _announce: Callable[[], None]
    _is_on: bool

    async def get(self, request: Request) -> bytes:
        """Return all lists and groups, and the forms that add one."""
        member = await self._requests.member(request)
        values = {
            "lists": await self._lists.all(),
            "groups": await self._groups.all(),
            "is_on": self._is_on,
            "longest_title": MAX_TITLE,
            "longest_rule": MAX_RULE,
        }
        return self._requests.page(request, member.session, "lists", values)

    async def post(self, request: Request) -> bytes:
        """Create a list, and redirect to its page."""
        _, form = await self._requests.member_form(request)
        name = form.get("name", "").strip()
        return await self._done(request, LISTS, "created", self._put(name, form, True), to=f"{LISTS}/{name}")

    async def get_one(self, request: Request, name: str) -> bytes:
        """Return the page of a list."""
        member = await self._requests.member(request)
        found = await self._lists.find(name)
        picks = (await self._lists.picks([name])).get(name, ())
        values = {
            "list": found,
            "approvers": await self._approvers.texts(name),
            "count": await self._lists.count(name),
            "picks": picks[:MAX_SHOWN],
            "more": max(len(picks) - MAX_SHOWN, 0),
            "longest_title": MAX_TITLE,
            "longest_rule": MAX_RULE,
        }
        return self._requests.page(request, member.session, "list", values)

    async def save(self, request: Request, name: str) -> bytes:
        """Change a list and the groups that see it, and redirect to its page."""
        _, form = await self._requests.member_form(request)
        return await self._done(request, f"{LISTS}/{name}", "saved", self._put(name, form, False))

    async def pick(self, request: Request, name: str) -> bytes:
        """Add an entry to a list by hand, and redirect to its page."""
        _, form = await self._requests.member_form(request)
        entry = form.get("entry", "").strip()
        return await self._done(request, f"{LISTS}/{name}", "picked", self._lists.pick(name, entry))

    async def unpick(self, request: Request, name: str) -> bytes:
        """Undo `pick`, and redirect to the page of the list."""
        _, form = await self._requests.member_form(request)
        return await self._done(request, f"{LISTS}/{name}", "unpicked", self._lists.unpick(name, form.get("entry", "")))

    async def get_remove(self, request: Request, name: str) -> bytes:
        """Return the page that asks to confirm the removal of a list."""
        member = await self._requests.member(request)
        values = {"name": (await self._lists.find(name)).name, "path": LISTS}
        return self._requests.page(request, member.session, "remove", values)

    async def remove(self, request: Request, name: str) -> bytes:
        """Remove a list, and redirect to all lists."""
        await self._requests.member_form(request)
        return await self._done(request, LISTS, "removed", self._lists.remove(name))

    async def post_group(self, request: Request) -> bytes:
        """Create a group, and redirect to its page."""
        _, form = await self._requests.member_form(request)
        name = form.get("name", "").strip()
        creating = self._groups.add(name, self._now())
        return await self._done(request, LISTS, "created", creating, to=f"{GROUPS}/{name}")

    async def get_group(self, request: Request, name: str) -> bytes:
        """Return the page of a group."""
        member = await self._requests.member(request)
        group = await self._groups.find(name)
        values = {
            "group": group,
            "members": [(reader, await name_of(self._storage, reader)) for reader in group.members[:MAX_SHOWN]],
            "more": max(len(group.members) - MAX_SHOWN, 0),
            "member": "",
        }
        return self._requests.page(request, member.session, "group", values)

    async def change_group(self, request: Request, name: str, action: str) -> bytes:
        """Add or remove a member or a group of an issuer, and redirect to the page of the group."""
        _, form = await self._requests.member_form(request)
        changes: dict[str, Callable[[], Awaitable[None]]] = {
            "join": lambda: self._join(name, form.get("member", "")),
            "leave": lambda: self._groups.remove_member(name, form.get("member", "")),
            "claim": lambda: self._groups.add_claim(
                name, form.get("issuer", "").strip(), form.get("value", "").strip()
            ),
            "unclaim": lambda: self._groups.remove_claim(name, form.get("issuer", ""), form.get("value", "")),
        }
        if action not in changes:
            raise UnknownPath
        return await self._done(request, f"{GROUPS}/{name}", "saved", changes[action]())

    async def get_remove_group(self, request: Request, name: str) -> bytes:
        """Return the page that asks to confirm the removal of a group."""
        member = await self._requests.member(request)
        values = {"name": (await self._groups.find(name)).name, "path": GROUPS}
        return self._requests.page(request, member.session, "remove", values)

    async def remove_group(self, request: Request, name: str) -> bytes:
        """Remove a group, and redirect to all groups."""
        await self._requests.member_form(request)
        return await self._done(request, LISTS, "removed", self._groups.remove(name))

    async def _put(self, name: str, form: Any, is_new: bool) -> None:
        is_all, is_open = form.get("kind") == "all", bool(form.get("open"))
        title, rule = form.get("title", ""), form.get("rule", "")
        approvers = await self._approvers.read(form.get("approvers", "").split())
        wanted = new_list(
            name,
            title,
            is_all=is_all,
            is_open=is_open,
            rule=rule,
            now=self._now(),
            holds_versions=bool(form.get("holds_versions")),
        )
        await self._lists.put(wanted, is_new=is_new)
        await self._lists.set_groups(name, form.get("groups", "").split())
        await self._approvers.set(name, approvers)

    async def _join(self, group: str, text: str) -> None:
        await self._groups.add_member(group, await reader_of(self._storage, text))

    async def _done(self, request: Request, path: str, notice: str, change: Awaitable[None], to: str = "") -> bytes:
        """Do `change`, and redirect to `to`, by default `path`; to `path` with the error if it fails."""
        try:
            await change
        except DirectoryError:
            return self._requests.form_error(request, path)
        self._announce()
        return self._requests.redirect(request, to or path, notice)


@frozen
class OwnLists:
    """Handles `/account/lists`: the lists that a member sees, and their addresses."""

    _requests: AccountRequests
    _lists: Lists
    _scopes: ReaderScopes | None
    """Decides what a member sees; None while all readers see all entries."""

    async def get(self, request: Request) -> bytes:
        """Return the page."""
        member = await self._requests.member(request)
        names = await self._scopes.names(member.account.id) if self._scopes is not None else ()
        shown = [entry_list for entry_list in await self._lists.all() if entry_list.name in names] if names else []
        values = {"lists": shown, "is_on": self._scopes is not None, "base_url": self._requests.base_url(request)}
        return self._requests.page(request, member.session, "own", values)
