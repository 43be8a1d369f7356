"""Pages of lists and groups for operators, and the page of a member with her lists."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from attrs import frozen
from werkzeug.exceptions import NotFound as UnknownPath

from ...feature.server import Server
from ...web.account import AccountRequests, Next, Sent, form, local_path, page
from ...web.operator_requests import ADMIN, OperatorRequests
from ...web.routes import App
from .approvers import Approvers
from .groups import Groups
from .readers import name_of, reader_of
from .request_tables import ListRequests
from .rules import MAX_RULE, MAX_TITLE, new_list
from .scopes import ReaderScopes
from .tables import Lists

LISTS, GROUPS, OWN = f"{ADMIN}/lists", f"{ADMIN}/groups", "/account/lists"
LIST, GROUP = f"{LISTS}/{{name}}", f"{GROUPS}/{{name}}"

Values = Mapping[str, Any]

MAX_SHOWN = 200
"""Members of a group, and picked entries of a list, on a page. The command prints all."""


_FIELDS = ("name", "title", "kind", "rule", "groups", "open", "approvers", "holds_versions")


def _again(path: str, fields: Values) -> str:
    """Return the address of the form at `path` with the values that were sent."""
    return f"{path}?{urlencode({name: fields[name] for name in _FIELDS if fields.get(name)})}"


MAX_UNKNOWN = 5
"""Unknown groups that a page offers to create."""


@frozen
class Stored:
    """What is stored of lists. `scopes` decide what members see; None while all readers see all entries."""

    lists: Lists
    approvers: Approvers
    requests: ListRequests
    scopes: ReaderScopes | None


@frozen
class ListPages:
    """Handles the pages of operators."""

    app = App()

    _requests: OperatorRequests
    _server: Server
    _stored: Stored
    _groups: Groups

    @app.get(LISTS)
    @page("lists")
    async def get(self, sent: Sent) -> Values:
        """Return all lists and groups, and the forms that add one."""
        return {
            "lists": await self._stored.lists.all(),
            "groups": await self._groups.all(),
            "is_on": self._stored.scopes is not None,
            **await self._fields(sent, LISTS, {}),
        }

    @app.post(LISTS)
    @form(lambda fields: _again(LISTS, fields))
    async def post(self, sent: Sent) -> Next:
        """Create a list, and go to its page."""
        name = sent.text("name")
        await self._put(name, sent.fields, True)
        return self._changed(f"{LISTS}/{name}", "created")

    @app.get(LIST)
    @page("list")
    async def get_one(self, sent: Sent, name: str) -> Values:
        """Return the page of a list."""
        found = await self._stored.lists.find(name)
        picks = (await self._stored.lists.picks([name])).get(name, ())
        stored = {
            "title": found.title,
            "kind": "all" if found.is_all else "rule",
            "rule": found.rule,
            "groups": " ".join(found.groups),
            "open": found.is_open,
            "approvers": " ".join(await self._stored.approvers.texts(name)),
            "holds_versions": found.holds_versions,
        }
        return {
            "list": found,
            "count": await self._stored.lists.count(name),
            "picks": picks[:MAX_SHOWN],
            "more": max(len(picks) - MAX_SHOWN, 0),
            **await self._fields(sent, f"{LISTS}/{name}", stored),
        }

    @app.post(LIST)
    @form(lambda fields: _again(f"{LISTS}/{fields['name']}", fields))
    async def save(self, sent: Sent, name: str) -> Next:
        """Change a list and the groups that see it, and go to its page."""
        await self._put(name, sent.fields, False)
        return self._changed(f"{LISTS}/{name}", "saved")

    @app.post(f"{LIST}/pick")
    @form(LIST)
    async def pick(self, sent: Sent, name: str) -> Next:
        """Add an entry to a list by hand, and go to its page."""
        await self._stored.lists.pick(name, sent.text("entry"))
        return self._changed(f"{LISTS}/{name}", "picked")

    @app.post(f"{LIST}/unpick")
    @form(LIST)
    async def unpick(self, sent: Sent, name: str) -> Next:
        """Undo `pick`, and go to the page of the list."""
        await self._stored.lists.unpick(name, sent.fields.get("entry", ""))
        return self._changed(f"{LISTS}/{name}", "unpicked")

    @app.get(f"{LIST}/remove")
    @page("remove")
    async def get_remove(self, sent: Sent, name: str) -> Values:
        """Return the page that asks to confirm the removal of a list."""
        return {"name": (await self._stored.lists.find(name)).name, "path": LISTS}

    @app.post(f"{LIST}/remove")
    @form(LISTS)
    async def remove(self, sent: Sent, name: str) -> Next:
        """Remove a list, and go to all lists."""
        await self._stored.lists.remove(name)
        return self._changed(LISTS, "removed")

    @app.post(GROUPS)
    @form(LISTS)
    async def post_group(self, sent: Sent) -> Next:
        """Create a group, and go to its page, or back to the form of a list that names it."""
        name = sent.text("name")
        await self._groups.add(name, self._server.now())
        return self._changed(local_path(sent.fields.get("next", ""), f"{GROUPS}/{name}"), "created")

    @app.get(GROUP)
    @page("group")
    async def get_group(self, sent: Sent, name: str) -> Values:
        """Return the page of a group."""
        group = await self._groups.find(name)
        return {
            "group": group,
            "members": [(reader, await name_of(self._server.storage, reader)) for reader in group.members[:MAX_SHOWN]],
            "more": max(len(group.members) - MAX_SHOWN, 0),
            "member": "",
        }

    @app.post(f"{GROUP}/{{action}}")
    @form(GROUP)
    async def change_group(self, sent: Sent, name: str, action: str) -> Next:
        """Add or remove a member or a group of an issuer, and go to the page of the group."""
        member, issuer, value = sent.fields.get("member", ""), sent.text("issuer"), sent.text("value")
        match action:
            case "join":
                await self._groups.add_member(name, await reader_of(self._server.storage, member))
            case "leave":
                await self._groups.remove_member(name, member)
            case "claim":
                await self._groups.add_claim(name, issuer, value)
            case "unclaim":
                await self._groups.remove_claim(name, issuer, value)
            case _:
                raise UnknownPath
        return self._changed(f"{GROUPS}/{name}", "saved")

    @app.get(f"{GROUP}/remove")
    @page("remove")
    async def get_remove_group(self, sent: Sent, name: str) -> Values:
        """Return the page that asks to confirm the removal of a group."""
        return {"name": (await self._groups.find(name)).name, "path": GROUPS}

    @app.post(f"{GROUP}/remove")
    @form(LISTS)
    async def remove_group(self, sent: Sent, name: str) -> Next:
        """Remove a group, and go to all lists."""
        await self._groups.remove(name)
        return self._changed(LISTS, "removed")

    async def _put(self, name: str, fields: Mapping[str, str], is_new: bool) -> None:
        approvers = await self._stored.approvers.read(fields.get("approvers", "").split())
        wanted = new_list(
            name,
            fields.get("title", ""),
            is_all=fields.get("kind") == "all",
            is_open=bool(fields.get("open")),
            rule=fields.get("rule", ""),
            now=self._server.now(),
            holds_versions=bool(fields.get("holds_versions")),
        )
        await self._stored.lists.put(wanted, fields.get("groups", "").split(), is_new=is_new)
        await self._stored.approvers.set(name, approvers)

    async def _fields(self, sent: Sent, path: str, stored: Values) -> Values:
        """Return the fields of a list, those that were sent if the page shows their error, and unknown groups in them.

        A link of another site has no flash message, so it fills no form.
        """
        was_sent = "kind" in sent.fields and self._requests.has_flash(sent.request)
        source = sent.fields if was_sent else stored
        shown = {name: source.get(name, "") for name in _FIELDS}
        named = f"{shown['groups']} {shown['approvers']}".split() if was_sent else ()
        known = {group.name for group in await self._groups.all()} if named else ()
        return {
            "shown": shown,
            "unknown": [name for name in dict.fromkeys(named) if "@" not in name and name not in known][:MAX_UNKNOWN],
            "again": _again(path, shown),
            "longest_title": MAX_TITLE,
            "longest_rule": MAX_RULE,
        }

    def _changed(self, path: str, notice: str) -> Next:
        """Tell other processes of a change; return the page that follows."""
        self._server.bus.announce()
        return Next(path, notice)


@frozen
class OwnLists:
    """Handles `/account/lists`: the lists that a member sees, and their addresses."""

    app = App()

    _requests: AccountRequests
    _stored: Stored

    @app.get(OWN)
    @page("own")
    async def get(self, sent: Sent) -> Values:
        """Return the page."""
        scopes = self._stored.scopes
        names = await scopes.names(sent.member.account.id) if scopes is not None else ()
        shown = (
            [entry_list for entry_list in await self._stored.lists.all() if entry_list.name in names] if names else []
        )
        base_url = self._requests.base_url(sent.request)
        return {"lists": shown, "is_on": scopes is not None, "base_url": base_url}
