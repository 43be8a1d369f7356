"""Lists of a server: their entries, their addresses, open streams, pages and the command."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from directory_server.domain.accounts import Account
from directory_server.features.lists.approvers import Approvers
from directory_server.features.lists.groups import Groups
from directory_server.runtime.run_sync import run_sync

from ...cli.conftest import CommandLine
from ...web.browsers import OPERATOR, Browser, account_of
from ...web.conftest import Connection, Server, entry
from ...web.test_every_route import rpc
from .conftest import SECRET, SECRET_ID, Listed, open_listed, put

MCP = "/api/open/mcp"
ENTRY = f"/api/open/v1/entries/{SECRET_ID}"
EVENTS = {"Accept": "text/event-stream"}


@pytest.fixture
def listed(tmp_path: Path) -> Iterator[Listed]:
    with open_listed(tmp_path) as listed:
        yield listed


@pytest.fixture
def operator_of_lists(listed: Listed) -> Browser:
    run_sync(listed.server.accounts.set_role(account_of(listed.server, OPERATOR).id, "operator"))
    browser = Browser(listed.server)
    browser.sign_in(OPERATOR)
    return browser


def names(listed: Listed, path: str = "/v0.1/servers", **options: Any) -> list[str]:
    return [each["server"]["name"] for each in listed.server.get(path, **options).json["servers"]]


def test_a_rule_follows_the_entries(listed: Listed) -> None:
    listed.publish(SECRET)
    assert listed.server.get(ENTRY, key=listed.ann).status == 200
    assert listed.server.get(ENTRY, key=listed.bob).status == 404
    put(listed.lists, "red", rule="status:works", groups=["red"])
    # Until the entries of the new rule are found, nobody sees the list.
    assert listed.server.get(ENTRY, key=listed.ann).status == 404
    listed.update()
    assert listed.server.get(ENTRY, key=listed.ann).status == 404
    put(listed.lists, "red", rule="zebra", groups=["red"])
    listed.update()
    assert listed.server.get(ENTRY, key=listed.ann).status == 200
    listed.publish(entry(SECRET.name, "It is a horse.", version="2.0.0"))
    assert listed.server.get(ENTRY, key=listed.ann).status == 404
    run_sync(listed.lists.pick("red", SECRET.name))
    listed.update()
    assert listed.server.get("/api/open/v1/search?keywords=horse", key=listed.ann).json["count"] == 1
    assert listed.server.get("/api/open/v1/search?keywords=horse", key=listed.bob).json["count"] == 0


def test_a_removed_list_has_no_entries_when_it_is_created_again(listed: Listed) -> None:
    listed.publish(SECRET)
    run_sync(listed.lists.remove("red"))
    assert listed.server.get(ENTRY, key=listed.ann).status == 404
    listed.update()
    put(listed.lists, "red", groups=["red"])
    listed.update()
    assert listed.server.get(ENTRY, key=listed.ann).status == 404
    put(listed.lists, "red", is_all=True, groups=["red"])
    assert listed.server.get(ENTRY, key=listed.ann).status == 200


def test_each_api_has_an_address_for_a_list(listed: Listed) -> None:
    listed.publish(SECRET)
    assert names(listed, key=listed.ann) == ["io.github.example/mail", "io.github.example/postgres-mcp", SECRET.name]
    assert names(listed, "/r/red/v0.1/servers", key=listed.ann) == [SECRET.name]
    page = listed.server.get("/r/blue/api/open/v1/search?keywords=postgres%20mail&limit=1", key=listed.ann)
    assert page.json["count"] == 1
    assert page.headers["Link"].startswith("</r/blue/api/open/v1/search?")
    message = rpc("tools/call", {"name": "search_mcp", "arguments": {"keywords": "zebra"}})
    found = listed.server.request("POST", f"/r/red{MCP}", key=listed.ann, headers=message.headers, body=message.body)
    assert SECRET_ID in found.body.decode()
    agents = listed.server.get("/r/red/api/ard/v1/agents", key=listed.ann).json
    assert [agent["url"] for agent in agents["items"]] == [
        f"https://directory.example.org/r/red/api/ard/v1/cards/{SECRET_ID}"
    ]
    changes = listed.server.get("/r/red/api/open/v1/changes?limit=1", key=listed.ann)
    assert [each["mcp_id"] for each in changes.json["data"]] == [SECRET_ID]
    assert changes.headers["Link"].startswith("</r/red/api/open/v1/changes?")
    for path in ("/r/red/v0.1/servers", f"/r/red{ENTRY}", "/r/none/v0.1/servers"):
        assert listed.server.get(path, key=listed.bob).status == 404
    for path in ("/r/red/", "/r/red/account", "/r/red", "/r/RED/v0.1/servers"):
        assert listed.server.get(path, key=listed.ann).status == 404


@pytest.mark.parametrize(
    ("path", "target"),
    [
        ("/r/blue/v0.1/servers/?limit=1", "/r/blue/v0.1/servers?limit=1"),
        ("/r/blue//api/open/mcp", "/r/blue/api/open/mcp"),
        ("//r//blue/api/open/v1/search", "/r/blue/api/open/v1/search"),
    ],
)
def test_a_redirect_stays_in_the_list(listed: Listed, path: str, target: str) -> None:
    response = listed.server.get(path, key=listed.bob)
    assert (response.status, response.headers["Location"]) == (308, target)


def test_a_client_without_a_key_sees_open_lists(listed: Listed) -> None:
    listed.publish(SECRET)
    assert names(listed, key=None) == []
    assert listed.server.get("/v0.1/servers", key=None).headers["Cache-Control"].startswith("public")
    put(listed.lists, "blue", rule="namespace:io.github.example", is_open=True)
    assert names(listed, key=None) == ["io.github.example/mail", "io.github.example/postgres-mcp"]
    assert names(listed, "/r/blue/v0.1/servers", key=None) == names(listed, key=None)
    assert listed.server.get("/r/red/v0.1/servers", key=None).status == 404
    assert listed.server.get("/v0.1/servers", key="unknown").status == 401
    assert listed.server.get(f"/servers/{SECRET_ID}", key=None).status == 404


def test_the_dump_is_for_readers_of_all_entries(listed: Listed) -> None:
    listed.publish(SECRET)
    assert listed.server.get("/v0.1/dump.jsonl.gz.sha256", key=listed.ann).status == 404
    put(listed.lists, "all", is_all=True, groups=["red"])
    assert listed.server.get("/v0.1/dump.jsonl.gz.sha256", key=listed.ann).status == 200
    assert listed.server.get("/v0.1/dump.jsonl.gz.sha256", key=listed.bob).status == 404


def open_streams(listed: Listed, name: str) -> list[Connection]:
    """Open a stream of each kind."""
    key, cookie = {"ann": listed.ann, "bob": listed.bob}[name], {"Cookie": f"test={name}"}
    streams = [
        listed.server.open("GET", "/api/open/v1/changes", key=key, headers=EVENTS),
        listed.server.open("GET", "/api/open/v1/changes?keywords=zebra", key=key, headers=EVENTS),
        listed.server.open("GET", MCP, key=key, headers=EVENTS),
        listed.server.open("GET", "/news", key=None, headers=cookie),
    ]
    for stream in streams:
        assert b"200 OK" in stream.received()
    return streams


def test_open_streams_tell_of_changes_to_those_who_see_the_entry(listed: Listed) -> None:
    run_sync(listed.lists.pick("red", SECRET.name))
    # The entries of the server were announced to MCP clients when it began.
    listed.server.clock.pump([1.0] * 140)
    ann, bob = open_streams(listed, "ann"), open_streams(listed, "bob")
    listed.publish(SECRET)
    listed.server.clock.pump([1.0] * 12)
    of_ann, of_bob = ([stream.received() for stream in streams] for streams in (ann, bob))
    assert [SECRET_ID.encode() in events for events in of_ann[:2]] == [True, True]
    assert b"list_changed" in of_ann[2]
    assert [events.replace(b": \n\n", b"") for events in of_bob] == [b"", b"", b"", b""]
    run_sync(listed.lists.unpick("red", SECRET.name))
    put(listed.lists, "red", groups=["red"])
    listed.update()
    listed.server.clock.pump([1.0] * 12)
    assert b"entry.removed" in ann[0].received()
    assert bob[0].received().replace(b": \n\n", b"") == b""
    for stream in (*ann, *bob):
        stream.close()


def test_a_stream_within_a_scope_ends_soon(listed: Listed) -> None:
    connection = listed.server.open("GET", "/api/open/v1/changes", key=listed.bob, headers=EVENTS)
    connection.received()
    listed.server.clock.pump([1.0] * 90)
    connection.received()
    assert connection.transport.disconnecting
    connection.close()


@pytest.mark.parametrize("server", [{"lists.enabled": True}], indirect=True)
def test_an_operator_defines_lists_and_groups(server: Server, ann: Account, member: Browser, operator: Browser) -> None:
    operator.get("/admin/groups")
    operator.follow(operator.post("/admin/groups", {"name": "team"}))
    assert operator.submit("/admin/groups/team/join", {"members": ann.email}) == ""
    assert ann.email in operator.text
    assert operator.submit("/admin/groups/team/join", {"members": "nobody@example.org"}) == "member_unknown"
    assert operator.submit("/admin/groups/team/join", {"claim": "cn=data team", "issuer": ""}) == ""
    assert "cn=data team" in operator.text
    assert operator.submit("/admin/groups/team/leave", {"claim": "cn=data team"}) == ""
    assert "cn=data team" not in operator.text
    operator.get("/admin/lists")
    assert "Lists are off" not in operator.text
    assert operator.submit("/admin/lists", {"name": "Mail", "rule": "mail"}) == "name_wrong"
    assert operator.submit("/admin/lists", {"name": "mail", "title": "Mail servers", "groups": "team"}) == ""
    assert values_of(operator.page)["title"] == "Mail servers"
    assert operator.submit("/admin/lists", {"name": "mail"}) == "list_exists"
    assert operator.submit("/admin/lists/mail/pick", {"entry": "io.github.example/mail"}) == ""
    assert "io.github.example/mail" in operator.text
    member.get("/account/lists")
    assert "You see no list." in member.text
    lists = operator_lists(server)
    run_sync(lists.complete(run_sync(lists.all())))
    member.get("/account/lists")
    assert "/r/mail/api/open/mcp" in member.text
    secret = member.create_key()
    server.application.feed.wake()
    assert names_of(server, secret) == ["io.github.example/mail"]
    operator.get("/admin/lists/mail")
    assert operator.submit("/admin/lists/mail/unpick", {"entry": "io.github.example/mail"}) == ""
    assert names_of(server, secret) == []
    operator.get("/admin/groups/team")
    assert operator.submit("/admin/groups/team/leave", {"members": ann.id}) == ""
    member.get("/account/lists")
    assert "You see no list." in member.text


def operator_lists(server: Server) -> Any:
    from directory_server.features.lists.tables import Lists

    return Lists(server.application.storage.tables)


def names_of(server: Server, key: str) -> list[str]:
    return [each["server"]["name"] for each in server.get("/v0.1/servers", key=key).json["servers"]]


SENT = {
    "name": "staff-tools",
    "title": 'Tools <b>"&é',
    "rule": 'category:databases "a b"',
    "groups": "staff blue <x> ann@example.org",
    "open": "yes",
    "approvers": "operator@example.org eyes",
    "holds_versions": "yes",
}


def values_of(page: str) -> dict[str, str]:
    """Return the values of the form of a list on a page."""
    tags = re.findall(r'<input [^>]*name="(name|title|rule|groups|approvers)"[^>]* value="([^"]*)"', page)
    checked = re.findall(r'name="(all|open|holds_versions)" value="([a-z]+)" checked', page)
    return {name: unescape(value) for name, value in [*tags, *checked]}


def test_a_list_with_an_unknown_group_is_not_created_and_the_form_keeps_its_input(
    listed: Listed, operator_of_lists: Browser
) -> None:
    operator, path = operator_of_lists, "/admin/lists"
    operator.get(path)
    assert "create_groups" not in operator.page
    assert operator.submit(path, {**SENT, "groups": "blue none"}) == "group_unknown"
    assert "There is no group eyes." in operator.text
    assert operator.submit(path, SENT) == "group_unknown"
    assert "staff-tools" not in [one.name for one in run_sync(listed.lists.all())]
    assert values_of(operator.page) == SENT
    assert "create_groups" in operator.page
    # A wrong name of a group is not created.
    assert operator.submit(path, {**SENT, "create_groups": "yes"}) == "name_wrong"
    assert "staff" not in [group.name for group in run_sync(Groups(listed.server.application.storage.tables).all())]
    wanted = {**SENT, "groups": "staff", "create_groups": "yes"}
    assert operator.submit(path, wanted) == ""
    (created,) = [one for one in run_sync(listed.lists.all()) if one.name == "staff-tools"]
    assert (created.title, created.groups, created.is_open, created.holds_versions) == (
        SENT["title"],
        ("staff",),
        True,
        True,
    )
    assert {"name": "staff-tools", **values_of(operator.page)} == {**SENT, "groups": "staff"}
    # A change of a list is not saved in part, either.
    operator.get(f"{path}/staff-tools")
    changed = {**SENT, "title": "New", "groups": "staff none"}
    assert operator.submit(f"{path}/staff-tools/save", changed) == "group_unknown"
    assert values_of(operator.page)["title"] == "New"
    assert created in run_sync(listed.lists.all())
    assert operator.submit(f"{path}/staff-tools/save", {**changed, "create_groups": "yes"}) == ""
    assert [one.groups for one in run_sync(listed.lists.all()) if one.title == "New"] == [("none", "staff")]
    storage = listed.server.application.storage
    approvers = Approvers(storage.tables, storage)
    assert run_sync(approvers.texts("staff-tools")) == ["operator@example.org", "eyes"]
    assert operator.submit(f"{path}/staff-tools/save", {"title": "New", "groups": "", "approvers": ""}) == ""
    assert run_sync(approvers.of("staff-tools")) == []
    assert run_sync(listed.lists.find("staff-tools")).groups == ()


def test_the_page_of_groups_lists_them(operator_of_lists: Browser) -> None:
    assert operator_of_lists.get("/admin/groups").status == 200
    assert '<a href="/admin/groups/blue"><bdi>blue</bdi></a>' in operator_of_lists.page


def test_of_two_operators_neither_replaces_what_she_has_not_seen(listed: Listed, operator_of_lists: Browser) -> None:
    operator, path = operator_of_lists, "/admin/lists/red"
    operator.get(path)
    before = shown_values_of(operator.page)
    # The other one takes the list away from its group.
    run_sync(listed.lists.set_groups("red", ()))
    assert operator.submit(f"{path}/save", {**before, "title": "Vaults"}) == "changed_meanwhile"
    red = run_sync(listed.lists.find("red"))
    assert (red.title, red.groups) == ("red", ())
    # What was sent is still there, to be sent again or not.
    again = shown_values_of(operator.page)
    assert (again["title"], again["groups"]) == ("Vaults", "red")
    assert operator.submit(f"{path}/save", again) == ""
    assert run_sync(listed.lists.find("red")).groups == ("red",)


def shown_values_of(page: str) -> dict[str, str]:
    (shown,) = re.findall(r'name="shown" value="([^"]*)"', page)
    return {**values_of(page), "shown": shown}


def test_the_command_defines_lists_and_groups(directory: CommandLine) -> None:
    directory.succeed("key", "create", "--label", "agent")
    key = json.loads(directory.succeed("key", "list", "--json"))[0]["id"]
    directory.succeed("lists", "group", "add", "team", key, "--claim", "cn=team")
    directory.fail("lists", "group", "add", "other", "nobody")
    directory.fail("lists", "group", "join", "team", "nobody")
    directory.succeed("lists", "put", "mail", "--rule", "mail", "--group", "team", "--holds-versions")
    directory.succeed("account", "add", "ann@example.org")
    directory.succeed("lists", "approver", "mail", "team", "ann@example.org")
    directory.succeed("lists", "approver", "mail", "ann@example.org", "--remove")
    directory.fail("lists", "approver", "mail", "nobody@example.org")
    directory.fail("lists", "approver", "mail", "nogroup")
    directory.fail("lists", "approver", "none", "team")
    directory.fail("lists", "put", "other", "--rule", "category:none")
    directory.fail("lists", "put", "other", "--group", "none")
    directory.succeed("lists", "pick", "mail", "x/y", "x/z")
    directory.succeed("lists", "unpick", "mail", "x/z")
    # It replaces the definition only.
    directory.succeed("lists", "put", "mail", "--rule", "post", "--group", "team", "--holds-versions")
    (stored,) = json.loads(directory.succeed("lists", "list", "--json"))
    wanted = {
        "name": "mail",
        "title": "mail",
        "entries": 1,
        "rule": "post",
        "open": False,
        "groups": ["team"],
        "approvers": ["team"],
        "holds_versions": True,
        "ready": False,
    }
    assert wanted.items() <= stored.items()
    groups = json.loads(directory.succeed("lists", "group", "list", "--json"))
    assert groups == [{"id": "team", "name": "team", "members": [key], "claims": [["", "cn=team"]]}]
    directory.succeed("lists", "group", "leave", "team", key, "--claim", "cn=team")
    assert json.loads(directory.succeed("lists", "group", "list", "--json"))[0]["members"] == []
    directory.succeed("lists", "remove", "mail")
    directory.succeed("lists", "group", "remove", "team")
    directory.fail("lists", "group", "remove", "team")
