"""Lists for operators: the declaration of their pages and of `lists`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from attrs import frozen

from ...domain.entries import MAX_VERSION
from ...domain.limits import NAME
from ...domain.scopes import MAX_LIST_NAME, PRODUCTION
from ...resource import MAX_ROWS, Action, Asked, Done, Facts, Field, Parts, Resource, Row
from .approvers import Approvers
from .channels import Channels
from .groups import Groups
from .rules import MAX_NAMES, MAX_RULE, MAX_TITLE, EntryList, check_list_name, new_list
from .settings import ListsConfig
from .tables import Lists


@frozen
class Shown:
    """A list with the number of its entries, None for all, and its approvers as operators write them."""

    entry_list: EntryList
    entries: int | None
    approvers: Sequence[str]


def _lists(parts: Parts) -> Lists:
    return Lists(parts.storage.tables)


def _approvers(parts: Parts) -> Approvers:
    return Approvers(parts.storage.tables, parts.storage)


async def _shown(parts: Parts, entry_list: EntryList) -> Shown:
    entries = None if entry_list.is_all else await _lists(parts).count(entry_list.name)
    return Shown(entry_list, entries, await _approvers(parts).texts(entry_list.name))


async def _list(parts: Parts, asked: Asked) -> Sequence[Shown]:
    return [await _shown(parts, entry_list) for entry_list in await _lists(parts).all()]


async def _find(parts: Parts, name: str) -> Shown:
    return await _shown(parts, await _lists(parts).find(name))


def _facts(parts: Parts, shown: Shown) -> Facts:
    entry_list = shown.entry_list
    return {
        "id": entry_list.name,
        "name": entry_list.name,
        "title": entry_list.title,
        "entries": shown.entries,
        "rule": entry_list.rule,
        "open": entry_list.is_open,
        "groups": list(entry_list.groups),
        "approvers": list(shown.approvers),
        "holds_versions": entry_list.holds_versions,
        "ready": entry_list.is_ready,
        "state": "active" if entry_list.is_ready else "filling",
        "address": f"/r/{entry_list.name}/v0.1/servers",
    }


async def _store(
    parts: Parts, name: str, *, groups: Sequence[str], create_groups: bool, is_new: bool | None, **values: Any
) -> None:
    wanted = new_list(
        name,
        values["title"],
        is_all=values["all"],
        is_open=values["open"],
        rule=values["rule"],
        now=parts.now(),
        holds_versions=values["holds_versions"],
    )
    named: Sequence[str] | None = values["approvers"]
    if create_groups:
        missing = {*groups, *(text for text in named or () if "@" not in text)}
        missing.difference_update(group.name for group in await Groups(parts.storage.tables).all())
        for group in missing:
            check_list_name(group)
        for group in missing:
            await Groups(parts.storage.tables).add(group, parts.now())
    approvers = None if named is None else await _approvers(parts).read(named)
    await _lists(parts).put(wanted, groups, is_new=is_new)
    if approvers is not None:
        await _approvers(parts).set(name, approvers)


async def _put(parts: Parts, name: str, **values: Any) -> Done:
    # A page does not replace a list by accident.
    await _store(parts, name, is_new=True if parts.account else None, **values)
    return Done(name, line=f"List {name} is stored. A running server finds its entries.")


async def _pick(parts: Parts, name: str, entry: Sequence[str]) -> None:
    for entry_name in entry:
        await _lists(parts).pick(name, entry_name)


async def _unpick(parts: Parts, name: str, entry: Sequence[str]) -> None:
    for entry_name in entry:
        await _lists(parts).unpick(name, entry_name)


async def _picks(parts: Parts, name: str) -> Sequence[Row]:
    picks = (await _lists(parts).picks([name])).get(name, ())
    return [Row(entry, {"entry": entry}) for entry in picks[: MAX_ROWS + 1]]


async def _pin(parts: Parts, name: str, entry: str, version: str, alias: str) -> None:
    await Channels(parts.storage.tables).pin(name, entry, version, alias or PRODUCTION)


async def _unpin(parts: Parts, name: str, entry: str, alias: str) -> None:
    await Channels(parts.storage.tables).unpin(name, entry, alias or PRODUCTION)


async def _channels(parts: Parts, name: str) -> Sequence[Row]:
    channels = await Channels(parts.storage.tables).list(name, MAX_ROWS + 1)
    return [
        Row(channel.name, {"entry": channel.name, "alias": channel.alias}, f"{channel.alias}: {channel.version}")
        for channel in channels
    ]


async def _change_approvers(parts: Parts, name: str, approver: Sequence[str], remove: bool) -> None:
    changed = await _approvers(parts).read(approver)
    await _approvers(parts).change(name, () if remove else changed, changed if remove else ())


def _values(parts: Parts, facts: Facts) -> dict[str, Any]:
    lists = {name: " ".join(facts[name]) for name in ("groups", "approvers")}
    return {**facts, **lists, "all": facts["entries"] is None}


def _has_rule(parts: Parts, facts: Facts) -> bool:
    return facts["entries"] is not None


_DEFINITION = (
    Field("title", "Title of the list.", longest=MAX_TITLE),
    Field("rule", "Query with filters as in a search, which entries of the list match.", longest=MAX_RULE),
    Field("all", "The list has all entries.", "flag"),
    Field("open", "Everybody sees the list.", "flag"),
    Field("groups", "Group that sees the list.", "words", MAX_NAMES, option="group"),
    Field("create_groups", kind="flag", default=False, place="page", after="group_unknown"),
    Field("approvers", kind="words", longest=MAX_NAMES, default=None, place="page"),
    Field("holds_versions", "Each new version of an approved entry waits for an approver.", "flag"),
)


def _has_channels(parts: Parts, facts: Facts) -> bool:
    return _has_rule(parts, facts) and not facts["holds_versions"]


_NAME = Field("entry", longest=NAME, is_required=True, is_argument=True)
_ALIAS = Field("alias", "Name of the channel.", longest=30, default=PRODUCTION)

_ENTRY = (Field("entry", kind="words", longest=10 * NAME, is_required=True, is_argument=True),)

LISTS = Resource(
    name="lists",
    command="lists",
    noun="list",
    group="rules",
    texts="lists",
    list=_list,
    find=_find,
    facts=_facts,
    columns=("name", "title", "entries", "rule", "groups", "open", "approvers", "state"),
    nothing={"entries": "all"},
    hidden=("id", "title", "rule", "open", "groups", "approvers", "holds_versions", "ready"),
    is_named=True,
    note=lambda parts: "" if parts.config.of(ListsConfig).enabled else "off",
    add=Action(
        "put",
        "Create the list NAME, or replace its definition. Entries that were picked, and approvers, stay.",
        _put,
        fields=(Field("name", longest=MAX_LIST_NAME, is_required=True, is_argument=True), *_DEFINITION),
    ),
    actions=(
        Action("save", "", partial(_store, is_new=False), fields=_DEFINITION, values=_values, place="page"),
        Action(
            "approver",
            "Let APPROVER decide on requests for the list: e-mail addresses of accounts, and names of groups.",
            _change_approvers,
            fields=(
                Field("approver", kind="words", is_required=True, is_argument=True),
                Field("remove", "They are approvers no longer.", "flag"),
            ),
            done="has other approvers",
            place="command",
        ),
        Action(
            "unpick",
            "Undo pick. An entry that the rule matches stays in the list.",
            _unpick,
            fields=_ENTRY,
            done="has the entries by its rule only",
            allows=_has_rule,
            rows=_picks,
        ),
        Action(
            "pick",
            "Add the entries named ENTRY to the list by hand.",
            _pick,
            fields=_ENTRY,
            done="has the entries",
            allows=_has_rule,
        ),
        Action(
            "unpin",
            "Undo pin. Readers of the list get the latest version again.",
            _unpin,
            fields=(_NAME, _ALIAS),
            done="has one channel less",
            allows=_has_channels,
            rows=_channels,
        ),
        Action(
            "pin",
            "Give readers of the list VERSION of ENTRY as the latest, until the channel is moved.",
            _pin,
            fields=(_NAME, Field("version", longest=MAX_VERSION, is_required=True, is_argument=True), _ALIAS),
            done="has the channel",
            allows=_has_channels,
        ),
        Action(
            "remove",
            "Remove the list. Its entries stay in the directory.",
            lambda parts, name: _lists(parts).remove(name),
            done="is removed",
            confirms=True,
            ends=True,
        ),
    ),
)
