"""A list that holds versions never shows a document that waits, however the document got there. On both databases."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from directory_server.domain.entries import OFFICIAL, Entry, mcp_id_of
from directory_server.domain.errors import BadInput
from directory_server.domain.requests import Request
from directory_server.domain.versions import VersionFilter
from directory_server.features.lists.keeper import differences
from directory_server.features.lists.requests import ListRequests, approval_of
from directory_server.features.lists.rules import new_list
from directory_server.features.lists.tables import Lists
from directory_server.serialization import encode_entry
from directory_server.tables import StoredAccounts, StoredCuration, StoredEntries

from ...contract import awaited
from ...tables.conftest import TablesTest, open_store

NAME = "x/mail"
MCP_ID = mcp_id_of(NAME)
RED, BLUE = frozenset({"red"}), frozenset({"blue"})
SOURCES = ["first", "second"]
EVIL = "https://evil.example/mcp"


def document(version: str, url: str = EVIL, *, latest: bool = True, status: str = "active") -> Entry:
    return Entry(
        {
            "name": NAME,
            "description": "It reads mail.",
            "version": version,
            "remotes": [{"type": "streamable-http", "url": url}],
        },
        {OFFICIAL: {"isLatest": latest, "status": status}},
    )


GOOD = document("1.0.0", "https://good.example/mcp")


async def everything_within(store: StoredEntries, scope: frozenset[str]) -> str:
    """Return all that the reads of a store show of the entry within a scope."""
    within = store.within(scope)
    versions = ["latest", "0.9.0", "1.0.0", "2.0.0"]
    read: list[Any] = [
        await within.entry(MCP_ID),
        await within.entries([MCP_ID]),
        *[await within.version(NAME, version) for version in versions],
        *[await within.latest([MCP_ID], wanted=VersionFilter(version)) for version in versions],
        *[await within.listing(("", ""), 9, versions=version, include_deleted=True) for version in [*versions, "all"]],
        *[await within.listing(("", ""), 9, versions=version, updated_since=1.0) for version in [*versions, "all"]],
        await within.versions(NAME),
        *[await within.of_source(source) for source in (*SOURCES, "local")],
        await within.published(NAME),
        await within.newest(9, encode_entry),
        await within.current("", 9),
        await within.changes(0, 99),
    ]
    return repr(read)


async def keep(store: StoredEntries, lists: Lists) -> None:
    """Write the lists of entries as the keeper does; each rule matches each entry."""
    picks = await lists.picks(["red", "blue"])
    await lists.write(differences(await store.changes(0, 9), await lists.all(), picks, lambda _, rules: set(rules)))


Change = Callable[[StoredEntries, StoredCuration], Awaitable[Any]]


async def hide_change_show(store: StoredEntries, curation: StoredCuration) -> None:
    await curation.mark(NAME, "hidden", True)
    await store.publish("second", [document("2.0.0")])
    await curation.mark(NAME, "hidden", False)


async def own_and_disown(store: StoredEntries, curation: StoredCuration) -> None:
    await store.publish("local", [GOOD])
    await store.publish("second", [document("2.0.0")])
    await curation.disown(NAME)


CHANGES: dict[str, Change] = {
    "a new version": lambda store, _: store.publish("second", [document("2.0.0")]),
    "the same version": lambda store, _: store.publish("second", [document("1.0.0")]),
    "a version that is not the latest": lambda store, _: store.publish("second", [document("0.9.0", latest=False)]),
    "a deleted version": lambda store, _: store.publish("second", [document("2.0.0", status="deleted")]),
    "a source with precedence": lambda store, _: store.publish("first", [document("1.0.0")]),
    "an edit": lambda store, _: store.publish("local", [document("1.0.0")]),
    "a hidden name": hide_change_show,
    "an own entry that is deleted": own_and_disown,
}


class TestHeldVersions(TablesTest):
    async def open(self, *, rule: str = "") -> tuple[StoredEntries, Lists, ListRequests]:
        """Return a directory whose list `red` has the entry with the approved document GOOD; `blue` has all of it."""
        tables = self.open_tables()
        self.curation = StoredCuration(tables, SOURCES)
        store, lists, requests = open_store(tables, SOURCES), Lists(tables), ListRequests(tables)
        self.ann = (await StoredAccounts(tables, lambda: 1.0).add("ann@example.org")).id
        await store.publish("second", [GOOD])
        for name in ("red", "blue"):
            values = {"is_all": False, "is_open": False, "rule": rule, "holds_versions": name == "red"}
            await lists.put(new_list(name, name, now=1.0, **values))  # type: ignore[arg-type]
        await lists.complete(await lists.all())
        await lists.pick("blue", NAME)
        asked = await requests.add(Request("list", NAME, "red", self.ann), "Mail.", 1.0)
        await requests.approve(asked, approval_of(GOOD, 2.0), "amy", "")
        assert "good.example" in await everything_within(store, RED)
        return store, lists, requests

    @pytest.mark.parametrize("way", CHANGES)
    @awaited
    async def test_what_waits_is_nowhere_from_its_transaction_on(self, way: str) -> None:
        store, _, _ = await self.open()
        await CHANGES[way](store, self.curation)
        shown = await everything_within(store, RED)
        assert "evil.example" not in shown
        # The readers of another list, and operators, see it.
        assert "evil.example" in await everything_within(store, BLUE)
        if way != "a version that is not the latest":
            [left] = await store.within(RED).changes(0, 99)
            assert (left.kind, left.body) == ("removed", None)

    @awaited
    async def test_the_keeper_makes_the_request_and_an_approval_shows_the_version(self) -> None:
        store, lists, requests = await self.open()
        head = await store.head()
        new = document("2.0.0")
        await store.publish("second", [new])
        await keep(store, lists)
        assert await store.head() == head + 1
        [waiting] = await requests.wait([MCP_ID], 3.0)
        await requests.approve(waiting.id, approval_of(new, 4.0), "amy", "")
        assert "evil.example" in await everything_within(store, RED)

    @awaited
    async def test_a_version_that_was_published_during_an_approval_is_not_approved(self) -> None:
        store, _, requests = await self.open()
        await store.publish("second", [document("2.0.0")])
        asked = await requests.add(Request("list", NAME, "red", self.ann), "Mail.", 3.0)
        with pytest.raises(BadInput, match="has changed"):
            await requests.approve(asked, approval_of(GOOD, 4.0), "amy", "")
        assert (await requests.find(asked)).is_open
        assert "evil.example" not in await everything_within(store, RED)

    @awaited
    async def test_a_list_that_begins_to_hold_versions_loses_those_that_wait(self) -> None:
        store, lists, requests = await self.open()
        for holds_versions in (False, True):
            wanted = new_list("red", "", is_all=False, is_open=False, rule="", now=1.0, holds_versions=holds_versions)
            await lists.put(wanted)
            if not holds_versions:
                await store.publish("second", [document("2.0.0")])
                assert "evil.example" in await everything_within(store, RED)
        assert [entry_list.revision for entry_list in await lists.all() if entry_list.holds_versions] < [0]
        await keep(store, lists)
        assert len(await requests.wait([MCP_ID], 3.0)) == 1
        assert "evil.example" not in await everything_within(store, RED)

    @awaited
    async def test_what_a_keeper_found_before_does_not_count(self) -> None:
        store, lists, _ = await self.open()
        await store.publish("second", [document("2.0.0")])
        head = await store.head()
        await lists.write({MCP_ID: (["red"], [])})
        assert "evil.example" not in await everything_within(store, RED)
        assert await store.head() == head

    @awaited
    async def test_a_rule_that_the_new_version_meets_does_not_list_it(self) -> None:
        store, lists, _ = await self.open(rule="mail")
        await store.publish("second", [document("2.0.0")])
        await keep(store, lists)
        assert "evil.example" not in await everything_within(store, RED)
        await lists.unpick("red", NAME)
        await lists.write({MCP_ID: (["red"], [])})
        assert "evil.example" in await everything_within(store, RED)
