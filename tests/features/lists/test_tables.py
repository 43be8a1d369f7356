"""Lists, scopes and what a store shows within a scope, on both databases."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from directory_server.domain.accounts import Account, Identity, subject_digest
from directory_server.domain.changes import Change
from directory_server.domain.entries import OFFICIAL, Entry, mcp_id_of
from directory_server.domain.errors import BadInput, NotFound
from directory_server.features.lists.channels import Channels
from directory_server.features.lists.groups import Groups
from directory_server.features.lists.rules import MAX_LISTS, EntryList, new_list
from directory_server.features.lists.scopes import ReaderScopes
from directory_server.features.lists.tables import Lists
from directory_server.tables import StoredAccounts, StoredCuration, StoredIdentities

from ...contract import awaited
from ...tables.conftest import TablesTest, open_store

ISSUER = "https://login.example.org"

RED, BLUE = frozenset({"red"}), frozenset({"blue"})


def entry(name: str, version: str = "1") -> Entry:
    return Entry(
        {"name": name, "description": "It does something.", "version": version}, {OFFICIAL: {"isLatest": True}}
    )


def a_list(name: str, **values: Any) -> EntryList:
    options: dict[str, Any] = {"title": "", "is_all": False, "is_open": False, "rule": "", **values}
    return new_list(name, **options, now=1.0)


async def seen(scopes: ReaderScopes, reader: str | None, name: str = "") -> set[str] | None:
    """Return the lists that a reader sees, None for all entries."""
    scope = await scopes.of(reader, name)
    return None if scope is None else set(scope)


class TestLists(TablesTest):
    @awaited
    async def test_a_reader_sees_open_lists_and_those_of_her_groups(self) -> None:
        tables = self.open_tables()
        lists, groups, scopes = Lists(tables), Groups(tables), ReaderScopes(tables, lambda: 1.0)
        accounts = StoredAccounts(tables, lambda: 1.0)
        ann, bob, root, eve = [await accounts.add(f"{name}@example.org") for name in ("ann", "bob", "root", "eve")]
        await accounts.set_role(root.id, "operator")
        await accounts.set_role(eve.id, "auditor")
        for name in ("red", "blue", "open", "new"):
            await lists.put(a_list(name, is_open=name == "open"))
        await lists.complete([each for each in await lists.all() if each.name != "new"])
        for name in ("red", "blue", "new"):
            await groups.add(name, 1.0)
            await lists.set_groups(name, [name])
        await groups.add_member("red", ann.id)
        await groups.add_member("blue", "a-key")
        # Nobody sees a list whose entries are not known yet.
        await groups.add_member("new", ann.id)
        assert await seen(scopes, None) == {"open"}
        assert await seen(scopes, ann.id) == {"open", "red"}
        assert await seen(scopes, bob.id) == {"open"}
        assert await seen(scopes, "a-key") == {"open", "blue"}
        assert await seen(scopes, "\0") == {"open"}
        assert await seen(scopes, root.id) is None
        assert await seen(scopes, eve.id) is None
        assert await seen(scopes, ann.id, "red") == {"red"}
        assert await seen(scopes, root.id, "blue") == {"blue"}
        for reader, name in ((bob.id, "red"), (None, "red"), (ann.id, "none"), (root.id, "none"), (ann.id, "new")):
            with pytest.raises(NotFound, match="There is no list"):
                await seen(scopes, reader, name)
        await groups.remove_member("red", ann.id)
        assert await seen(scopes, ann.id) == {"open"}
        await lists.put(a_list("all", is_all=True))
        await lists.set_groups("all", ["red"])
        await groups.add_member("red", bob.id)
        assert await seen(scopes, bob.id) is None
        assert await seen(scopes, bob.id, "all") is None
        await groups.remove("red")
        assert await seen(scopes, bob.id) == {"open"}

    @awaited
    async def test_groups_of_an_issuer_are_those_of_the_last_sign_in(self) -> None:
        tables = self.open_tables()
        lists, groups, scopes = Lists(tables), Groups(tables), ReaderScopes(tables, lambda: 1.0)
        identities = StoredIdentities(tables, lambda: 1.0)
        await lists.put(a_list("red"))
        await lists.put(a_list("blue"))
        await lists.complete(await lists.all())
        for name, issuer in (("red", ISSUER), ("blue", "")):
            await groups.add(name, 1.0)
            await lists.set_groups(name, [name])
            await groups.add_claim(name, issuer, f"cn={name},ou=x")

        async def signed_in(issuer: str, *of: str) -> Account:
            identity = Identity(issuer, subject_digest(issuer, "1"), of)
            account = await identities.sign_in(identity, "ann@example.org", creates=True)
            assert account is not None
            return account

        ann = await signed_in(ISSUER, "other", "cn=red,ou=x", "cn=blue,ou=x")
        assert await seen(scopes, ann.id) == {"red", "blue"}
        assert await seen(scopes, (await signed_in(ISSUER, '"cn=red,ou=x"', "cn=red")).id) == set()
        await StoredAccounts(tables, lambda: 1.0).link_issuer(ann.id, "https://other.example.org")
        assert await seen(scopes, (await signed_in("https://other.example.org", "cn=red,ou=x", "cn=blue,ou=x")).id) == {
            "blue"
        }
        await groups.remove_claim("blue", "", "cn=blue,ou=x")
        assert await seen(scopes, ann.id) == set()

    @awaited
    async def test_wrong_lists_and_groups_are_rejected(self) -> None:
        tables = self.open_tables()
        lists, groups = Lists(tables), Groups(tables)
        for name in ("", "A", "a b", "-a", "a" * 31):
            with pytest.raises(BadInput, match="name: must have 1 to 30"):
                a_list(name)
            with pytest.raises(BadInput, match="name: must have 1 to 30"):
                await groups.add(name, 1.0)
        with pytest.raises(BadInput, match="category"):
            a_list("a", rule="category:nonsense")
        with pytest.raises(BadInput, match="has no rule"):
            a_list("a", rule="mail", is_all=True)
        await lists.put(a_list("a"), is_new=True)
        with pytest.raises(BadInput, match="there is a list"):
            await lists.put(a_list("a"), is_new=True)
        with pytest.raises(NotFound):
            await lists.put(a_list("b"), is_new=False)
        for unknown in (
            lists.set_groups("none", []),
            lists.pick("none", "x/y"),
            lists.remove("none"),
            groups.remove("none"),
            groups.add_member("none", "id"),
            groups.add_claim("none", "", "value"),
        ):
            with pytest.raises(NotFound):
                await unknown
        with pytest.raises(BadInput, match="groups: there is no group 'none'"):
            await lists.set_groups("a", ["none"])
        with pytest.raises(BadInput, match="claim"):
            await groups.add_claim("a", "", "")
        for number in range(MAX_LISTS - 1):
            await lists.put(a_list(f"n{number}"))
        with pytest.raises(BadInput, match=f"at most {MAX_LISTS} lists"):
            await lists.put(a_list("more"))

    @awaited
    async def test_a_changed_rule_hides_a_list_until_its_entries_are_found(self) -> None:
        tables = self.open_tables()
        lists, scopes = Lists(tables), ReaderScopes(tables, lambda: 1.0)
        await lists.put(a_list("red", rule="mail", is_open=True))
        (before,) = await lists.all()
        await lists.put(a_list("red", rule="post", is_open=True))
        # The entries that were found for the first rule do not complete the second one.
        await lists.complete([before])
        assert await seen(scopes, None) == set()
        await lists.complete(await lists.all())
        assert await seen(scopes, None) == {"red"}
        await lists.put(a_list("red", title="Red", rule="post", is_open=True))
        assert [each.revision for each in await lists.all()] == [2]
        await lists.put(a_list("red", rule="mail", is_open=True))
        assert await seen(scopes, None) == set()

    @awaited
    async def test_a_removed_list_can_be_created_again_when_its_entries_have_left(self) -> None:
        tables = self.open_tables()
        lists, store = Lists(tables), open_store(tables)
        await store.publish("local", [entry("x/a")])
        await lists.put(a_list("red"))
        await lists.pick("red", "x/a")
        await lists.remove("red")
        with pytest.raises(BadInput, match="still being removed"):
            await lists.put(a_list("red"))
        leftovers = await lists.leftovers()
        assert leftovers == {mcp_id_of("x/a"): ["red"]}
        await lists.write({mcp_id: ((), names) for mcp_id, names in leftovers.items()})
        assert await lists.leftovers() == {}
        await lists.put(a_list("red"))
        assert await lists.count("red") == 0
        assert await lists.picks(["red"]) == {}

    @awaited
    async def test_a_store_shows_the_entries_of_a_scope(self) -> None:
        tables = self.open_tables()
        lists, store = Lists(tables), open_store(tables)
        names = ["x/a", "x/b", "x/c"]
        await store.publish("local", [entry(name) for name in names])
        for name, picked in (("red", "x/a"), ("blue", "x/b"), ("blue", "x/a")):
            await lists.put(a_list(name))
            await lists.pick(name, picked)
        ids = [mcp_id_of(name) for name in names]
        for scope, seen in ((RED, names[:1]), (BLUE, names[:2]), (RED | BLUE, names[:2]), (frozenset(), [])):
            within = store.within(scope)
            assert [each.name for each in await within.entries(ids)] == seen
            assert [name for name in names if await within.entry(mcp_id_of(name)) is not None] == seen
            assert [each.name for each in await within.listing(("", ""), 9)] == seen
            assert [each.name for each in await within.listing(("", ""), 9, versions="all")] == seen
            assert [each.name for each in await within.listing(("", ""), 9, versions="1")] == seen
            assert [each.name for each in await within.listing(("", ""), 9, updated_since=1.0)] == seen
            assert [each.name for each in await within.latest(ids)] == seen
            assert [name for name in names if await within.version(name, "latest") is not None] == seen
            assert [name for name in names if await within.version(name, "1") is not None] == seen
            assert [name for name in names if await within.versions(name)] == seen
            assert sorted(await within.preferred(names)) == sorted(seen)
            assert [each.name for each in await within.of_source("local")] == seen
            assert sorted(await within.newest(9, lambda each: each.name)) == seen
            assert sorted(await within.ids("", "g", 9)) == sorted(map(mcp_id_of, seen))
            assert await within.count() == len(seen)
            assert {change.mcp_id for change in await within.current("", 9)} == set(map(mcp_id_of, seen))
            assert {change.mcp_id for change in await within.changes(0, 9)} == set(map(mcp_id_of, seen))
            assert await within.has_changes(0) is bool(seen)
            assert await within.head() == await store.head()
        assert [each.name for each in await store.within(RED | BLUE).within(BLUE).entries(ids)] == names[:2]
        assert [each.name for each in await store.within(RED).within(BLUE).entries(ids)] == []
        assert [each.name for each in await store.within(RED).within(None).entries(ids)] == names[:1]

    @awaited
    async def test_an_entry_that_leaves_a_list_is_removed_for_its_readers_once(self) -> None:
        tables = self.open_tables()
        lists, store = Lists(tables), open_store(tables)
        await store.publish("local", [entry("x/a")])
        await lists.put(a_list("red"))
        await lists.put(a_list("blue"))
        await lists.pick("red", "x/a")
        await lists.pick("blue", "x/a")

        def kinds(changes: Sequence[Change]) -> list[tuple[int, str, bool]]:
            return [(change.seq, change.kind, change.body is None) for change in changes]

        red = store.within(RED)
        assert kinds(await red.changes(0, 9)) == [(1, "added", False), (2, "changed", False), (3, "changed", False)]
        await lists.unpick("red", "x/a")
        await store.publish("local", [entry("x/a", "2")])
        assert kinds(await red.changes(0, 9)) == [(4, "removed", True)]
        assert await red.has_changes(3)
        assert not await red.has_changes(4)
        assert [kind for _, kind, _ in kinds(await store.within(BLUE).changes(3, 9))] == ["changed", "changed"]
        assert [(change.lists, change.left) for change in await store.changes(3, 9)] == [
            (("blue",), ("red",)),
            (("blue",), ()),
        ]
        joined = [(change.cause, change.joined) for change in await store.changes(0, 9) if change.joined]
        assert joined == [("list", ("red",)), ("list", ("blue",))]

    @awaited
    async def test_a_removed_entry_is_removed_for_the_readers_of_its_lists(self) -> None:
        tables = self.open_tables()
        lists, store, curation = Lists(tables), open_store(tables), StoredCuration(tables)
        await store.publish("local", [entry("x/a")])
        await lists.put(a_list("red"))
        await lists.pick("red", "x/a")
        await curation.mark("x/a", "hidden", True)
        assert [change.kind for change in await store.within(RED).changes(2, 9)] == ["removed"]
        assert await store.within(BLUE).changes(0, 9) == []
        assert await store.within(RED).count() == 0
        # It leaves its list without a change that anybody sees.
        await lists.unpick("red", "x/a")
        assert await store.within(RED).changes(0, 9) == []

    @awaited
    async def test_an_alias_of_a_version_with_its_name_is_looked_up_once(self) -> None:
        tables = self.open_tables()
        store, lists, channels = open_store(tables), Lists(tables), Channels(tables)
        await lists.put(a_list("red"))
        await store.publish("local", [entry("x/y", "beta")])
        await lists.pick("red", "x/y")
        await channels.pin("red", "x/y", "beta", "beta")
        await StoredCuration(tables).mark("x/y", "hidden", True)
        assert await store.within(RED).version("x/y", "beta") is None

    @awaited
    async def test_a_channel_is_the_latest_version_of_all_reads_within_the_list(self) -> None:
        tables = self.open_tables()
        store, lists, channels = open_store(tables), Lists(tables), Channels(tables)
        mcp_id = mcp_id_of("x/y")
        await lists.put(a_list("red"))
        await store.publish("local", [entry("x/y", "1"), entry("x/y", "2"), entry("x/z", "1")])
        for name in ("x/y", "x/z"):
            await lists.pick("red", name)
        within = store.within(RED)

        async def versions() -> tuple[list[str], list[Any]]:
            """Return the latest versions of the list, and those of single reads."""
            latest, read = await within.version("x/y", "latest"), await within.entry(mcp_id)
            found = await within.latest([mcp_id])
            single = [latest and latest.version, read and read.version, *(version.version for version in found)]
            return [version.version for version in await within.listing(("", ""), 9)], single

        assert await versions() == (["2", "1"], ["2", "2", "2"])
        await channels.pin("red", "x/y", "1", "production")
        assert await versions() == (["1", "1"], ["1", "1", "1"])
        assert {version.version for version in await within.versions("x/y")} == {"1", "2"}
        assert [version.latest for version in await within.versions("x/y") if version.version == "1"] == [True]
        assert [change.body is not None for change in await within.current("", 9)] == [True, True]
        await channels.pin("red", "x/y", "2", "beta")
        beta = await within.version("x/y", "beta")
        assert beta is not None
        assert beta.version == "2"
        assert await store.version("x/y", "beta") is None
        assert [channel.alias for channel in await channels.list("red")] == ["beta", "production"]
        await tables.run("DELETE FROM record WHERE name = 'x/y' AND version = '1'")
        assert await versions() == (["1"], [None, None])
        await lists.remove("red")
        assert await channels.list("red") == []
