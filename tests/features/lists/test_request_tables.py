"""Approvers, requests and approvals on both databases; differences of documents, and their digests."""

from __future__ import annotations

from typing import Any
from unittest.mock import Mock

import pytest

from directory_server.domain.accounts import Identity, subject_digest
from directory_server.domain.entries import OFFICIAL, Entry, mcp_id_of
from directory_server.domain.errors import BadInput
from directory_server.domain.requests import Request
from directory_server.features.lists.approvers import Approvers
from directory_server.features.lists.groups import Groups
from directory_server.features.lists.requests import KINDS, MAX_DIFFERENCES, ListRequests, approval_of, differences
from directory_server.features.lists.rules import new_list
from directory_server.features.lists.scopes import ReaderScopes
from directory_server.features.lists.tables import Lists
from directory_server.serialization import document_digest
from directory_server.tables import Requests, StoredAccounts, StoredIdentities

from ...contract import awaited
from ...tables.conftest import TablesTest, open_store

ISSUER = "https://login.example.org"


def entry(**values: Any) -> Entry:
    return Entry({"name": "x/y", "version": "1", **values})


class TestListRequests(TablesTest):
    async def open(self, *, holds_versions: bool = False) -> tuple[Any, Lists, ListRequests, StoredAccounts]:
        tables = self.open_tables()
        lists = Lists(tables)
        wanted = new_list("red", "Red", is_all=False, is_open=False, rule="", now=1.0, holds_versions=holds_versions)
        await lists.put(wanted)
        return tables, lists, ListRequests(tables), StoredAccounts(tables, lambda: 1.0)

    @awaited
    async def test_approvers_are_accounts_and_members_of_groups(self) -> None:
        tables, lists, _, accounts = await self.open()
        groups, scopes, approvers = Groups(tables), ReaderScopes(tables, lambda: 1.0), Approvers(tables, Mock())
        ann, bob, eve = [await accounts.add(f"{name}@example.org") for name in ("ann", "bob", "eve")]
        await groups.add("eyes", 1.0)
        await groups.add_member("eyes", bob.id)
        await groups.add_claim("eyes", ISSUER, "checkers")
        await StoredIdentities(tables, lambda: 1.0).sign_in(
            Identity(ISSUER, subject_digest(ISSUER, "eve"), ("checkers",)), eve.email, creates=False
        )
        assert await approvers.lists() == set()
        await approvers.set("red", [(ann.id, ""), ("", "eyes")])
        assert await approvers.lists() == {"red"}
        assert [await scopes.decided_by(account.id) for account in (ann, bob, eve)] == [["red"]] * 3
        assert set(await approvers.accounts("red")) == {ann.id, bob.id, eve.id}
        assert await approvers.accounts("blue") == []
        assert await scopes.names(ann.id) == {}
        await approvers.set("red", [("", "eyes")])
        assert await scopes.decided_by(ann.id) == []
        await groups.remove("eyes")
        assert await approvers.lists() == set()
        await approvers.set("red", [(ann.id, "")])
        await accounts.delete(ann.id)
        assert await scopes.decided_by(ann.id) == ()
        with pytest.raises(BadInput, match="at most 50"):
            await approvers.change("red", [(str(number), "") for number in range(51)], [])
        await lists.remove("red")
        assert await approvers.lists() == set()

    @awaited
    async def test_a_request_goes_from_state_to_state(self) -> None:
        _, lists, requests, accounts = await self.open()
        ann, bob = [await accounts.add(f"{name}@example.org") for name in ("ann", "bob")]
        first = await requests.add(Request("list", "x/y", "red", ann.id), " For\u202e mail. ", 10.0)
        second = await requests.add(Request("list", "x/y", "red", bob.id), "Me too.", 12.0)
        assert (await requests.record(first, "question", bob.id, "Why?", 14.0)).state == "asked"
        assert [asked.id for asked in await requests.waiting(["red"], 9)] == [second, first]
        assert (await requests.record(first, "answer", ann.id, "Zoo.", 15.0)).state == "open"
        assert [(event.kind, event.account, event.text) for event in await requests.events(first)] == [
            ("requested", ann.id, "For mail."),
            ("question", bob.id, "Why?"),
            ("answer", ann.id, "Zoo."),
        ]
        assert await requests.waiting([], 9) == []
        approval = approval_of(entry(), 16.0)
        changed = await requests.approve(first, approval, "amy", "")
        assert {(asked.id, asked.state) for asked in changed} == {(first, "approved"), (second, "approved")}
        assert await requests.approval("red", "x/y") == approval
        assert (await lists.picks(["red"])) == {"red": ["x/y"]}
        assert await requests.listed("x/y", ["red", "blue"]) == {"red"}
        for done in (requests.approve(first, approval, "amy", ""), requests.record(first, "declined", "a", "", 1.0)):
            with pytest.raises(BadInput, match="was decided"):
                await done
        await lists.unpick("red", "x/y")
        assert await requests.approval("red", "x/y") is None
        await lists.remove("red")
        assert await requests.of_account(ann.id, 9) == []

    @awaited
    async def test_groups_of_issuers_are_compared_as_a_whole(self) -> None:
        tables, _, _, accounts = await self.open()
        groups, approvers, identities = Groups(tables), Approvers(tables, Mock()), StoredIdentities(tables, lambda: 1.0)
        await groups.add("eyes", 1.0)
        await approvers.set("red", [("", "eyes")])
        await groups.add_claim("eyes", "", 'a%_"b')
        ids = {}
        for name, group in (("ann", 'a%_"b'), ("bob", 'x"a%_\\"b'), ("eve", 'a11"b'), ("kim", 'a%_"b,c')):
            ids[name] = (await accounts.add(f"{name}@example.org")).id
            identity = Identity(ISSUER, subject_digest(ISSUER, name), (group,))
            await identities.sign_in(identity, f"{name}@example.org", creates=False)
        assert await approvers.accounts("red") == [ids["ann"]]

    @awaited
    async def test_a_new_document_makes_one_request(self) -> None:
        tables, lists, requests, accounts = await self.open(holds_versions=True)
        ann = await accounts.add("ann@example.org")
        approval, store, mcp_ids = approval_of(entry(), 2.0), open_store(tables), [mcp_id_of("x/y")]
        await store.publish("local", [entry()])
        await requests.approve(
            await requests.add(Request("list", "x/y", "red", ann.id), "Mail.", 1.0), approval, "amy", ""
        )
        # The entry has the approved document: nothing waits.
        assert await requests.wait(mcp_ids, 3.0) == []
        assert await requests.count() == 0

        async def wait(version: str, now: float) -> int:
            await store.publish("local", [entry(version=version)])
            return len(await requests.wait(mcp_ids, now))

        # Only the first one is told.
        assert [await wait(version, 3.0) for version in ("22", "22", "33")] == [1, 0, 0]
        assert await Requests(tables, KINDS).count_states() == {"approved": 1, "open": 1}
        [waiting] = await requests.waiting(["red"], 9)
        assert (waiting.account, waiting.details) == (ann.id, {"digest": document_digest(entry(version="33"))})
        assert (await requests.states("x/y", ["red"]))["red"] == waiting
        await Requests(tables, KINDS).expire(4.0, 4.0)
        assert await requests.count() == 1
        await requests.record(waiting.id, "declined", "amy", "", 5.0)
        assert await wait("33", 6.0) == 0
        assert await requests.count() == 0
        await accounts.delete(ann.id)
        assert await wait("44", 7.0) == 1
        [waiting] = await requests.waiting(["red"], 9)
        assert waiting.account is None
        wanted = new_list("red", "Red", is_all=False, is_open=False, rule="", now=1.0)
        await lists.put(wanted)
        assert await wait("55", 8.0) == 0


def paths(before: Entry, after: Entry) -> list[tuple[str, str, str]]:
    return [(each.path, each.before, each.after) for each in differences(approval_of(before, 0.0).document, after)]


def test_values_are_compared_by_path() -> None:
    before = entry(packages=[{"identifier": "a", "env": []}], title="Mail", flag=True)
    after = entry(packages=[{"identifier": "b\u202e\n", "env": []}], flag=False, more={"deep": None})
    assert paths(before, after) == [
        ("flag", "True", "False"),
        ("more.deep", "", "None"),
        ("packages[0].identifier", "a", "b"),
        ("title", "Mail", ""),
    ]
    assert paths(before, before) == []


def test_large_and_deep_documents_are_bounded() -> None:
    many = entry(tags=[str(number) for number in range(5_000)])
    assert len(paths(entry(), many)) == MAX_DIFFERENCES + 1
    # A difference after the last value that is compared is one of the rest.
    assert [path for path, _, _ in paths(many, entry(tags=["other", *many.server["tags"][1:]]))] == ["…"]
    deep: Any = "end"
    for _ in range(100):
        deep = [deep]
    assert len(paths(entry(deep=deep), entry(deep=[deep]))) == 1


def test_the_digest_is_of_what_the_publisher_wrote() -> None:
    first, dated = entry(), Entry(entry().server, {OFFICIAL: {"updatedAt": "2026-01-01"}}, is_official=True)
    assert document_digest(first) == document_digest(dated) == approval_of(dated, 1.0).digest
    assert document_digest(entry(title="Mail")) != document_digest(first)
