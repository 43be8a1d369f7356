"""Channels: readers of a list get the version that it pins, until the channel is moved."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from directory_server.domain.endings import Ending
from directory_server.domain.entries import OFFICIAL, mcp_id_of
from directory_server.domain.errors import BadInput, NotFound
from directory_server.features.lists.channels import Channels
from directory_server.features.managed_settings.selection import Selection
from directory_server.runtime.run_sync import inline, run_sync
from directory_server.tables import StoredCuration, StoredEndings

from ...cli.conftest import CommandLine
from ...web.browsers import Browser
from ...web.conftest import Server, entry
from .conftest import Listed, open_listed, put

NAME = "io.github.example/calendar"
PATH = f"v0.1/servers/{quote(NAME, safe='')}"


def version(number: str) -> Any:
    remotes = [{"type": "streamable-http", "url": f"https://{number}.example.org/mcp"}]
    return entry(NAME, f"Calendar {number}.", version=number, remotes=remotes)


@pytest.fixture
def listed(tmp_path: Path) -> Any:
    with open_listed(tmp_path) as listed:
        listed.publish(version("1.0.0"), version("2.0.0"))
        run_sync(listed.lists.pick("blue", NAME))
        listed.update()
        yield listed


def channels(listed: Listed) -> Channels:
    return Channels(listed.server.application.storage.tables)


def pin(listed: Listed, number: str, alias: str = "production", name: str = NAME) -> None:
    run_sync(channels(listed).pin("blue", name, number, alias))
    listed.update()


def latest(listed: Listed, prefix: str = "/r/blue/", key: str | None = None) -> set[str]:
    """Return the versions that all reads of the latest version give."""
    server, key = listed.server, key or listed.bob
    item = server.get(f"{prefix}{PATH}/versions/latest", key=key).json
    assert item["_meta"][OFFICIAL]["isLatest"]
    servers = [one["server"] for one in server.get(f"{prefix}v0.1/servers?version=latest", key=key).json["servers"]]
    searched = server.get(f"{prefix}v0.1/servers?search=calendar", key=key).json["servers"]
    detail = server.get(f"{prefix}api/open/v1/entries/{mcp_id_of(NAME)}", key=key).json
    return {
        item["server"]["version"],
        *(one["version"] for one in servers if one["name"] == NAME),
        *(one["server"]["version"] for one in searched),
        detail["version"],
    }


def settings(listed: Listed) -> str:
    storage = listed.server.application.storage
    selection = Selection(storage.store, StoredCuration(storage.tables), inline, storage.tables)
    document = run_sync(selection.within(frozenset({"blue"}), "blue").policy("")).document("managed-mcp.json")
    return next(number for number in ("1.0.0", "2.0.0", "3.0.0") if f"https://{number}." in str(document))


def test_readers_get_the_version_until_the_channel_is_moved(listed: Listed) -> None:
    assert latest(listed) == {"2.0.0"}
    pin(listed, "1.0.0")
    assert (latest(listed), settings(listed)) == ({"1.0.0"}, "1.0.0")
    listed.publish(version("3.0.0"))
    assert (latest(listed), settings(listed)) == ({"1.0.0"}, "1.0.0")
    assert latest(listed, "/") == {"1.0.0"}
    pin(listed, "2.0.0")
    assert (latest(listed), settings(listed)) == ({"2.0.0"}, "2.0.0")
    run_sync(channels(listed).unpin("blue", NAME, "production"))
    assert (latest(listed), settings(listed)) == ({"3.0.0"}, "3.0.0")


def test_other_entries_and_other_lists_are_as_before(listed: Listed) -> None:
    before = listed.server.get("/r/blue/v0.1/servers", key=listed.bob).json["servers"]
    pin(listed, "1.0.0")
    after = listed.server.get("/r/blue/v0.1/servers", key=listed.bob).json["servers"]
    assert [one for one in after if one["server"]["name"] != NAME] == [
        one for one in before if one["server"]["name"] != NAME
    ]
    run_sync(listed.lists.pick("red", NAME))
    listed.update()
    assert latest(listed, "/r/red/", listed.ann) == {"2.0.0"}


def test_an_alias_is_looked_up_by_its_name(listed: Listed) -> None:
    pin(listed, "1.0.0", "beta")
    assert latest(listed) == {"2.0.0"}
    found = listed.server.get(f"/r/blue/{PATH}/versions/beta", key=listed.bob)
    assert found.json["server"]["version"] == "1.0.0"
    assert not found.json["_meta"][OFFICIAL]["isLatest"]
    assert listed.server.get(f"/r/blue/{PATH}/versions/alpha", key=listed.bob).status == 404
    assert listed.server.get(f"/r/red/{PATH}/versions/beta", key=listed.ann).status == 404


def test_a_mirror_of_the_list_and_its_readers_learn_of_a_moved_channel(listed: Listed) -> None:
    server = listed.server
    run_sync(server.application.storage.tables.run("UPDATE entry SET updated_at = 1.0"))
    head = run_sync(server.application.storage.store.head())
    pin(listed, "1.0.0")
    updated = server.get("/r/blue/v0.1/servers?version=latest&updated_since=2020-01-01T00:00:00Z", key=listed.bob)
    assert [item["server"]["version"] for item in updated.json["servers"]] == ["1.0.0"]
    (change,) = run_sync(server.application.storage.store.changes(head, 10))
    assert (change.name, change.cause) == (NAME, "list")


def test_a_version_that_is_gone_is_not_replaced_by_another_one(listed: Listed) -> None:
    pin(listed, "1.0.0")
    run_sync(
        listed.server.application.storage.tables.run(
            "DELETE FROM record WHERE version = '1.0.0' AND name = :name", name=NAME
        )
    )
    assert listed.server.get(f"/r/blue/{PATH}/versions/latest", key=listed.bob).status == 404
    assert listed.server.get(f"/r/blue/api/open/v1/entries/{mcp_id_of(NAME)}", key=listed.bob).status == 404


def test_the_new_name_of_an_entry_with_a_pinned_version_is_on_no_list(listed: Listed) -> None:
    new = "io.github.other/calendar"
    listed.publish(entry(new, "Calendar 9.0.0."))
    pin(listed, "1.0.0")
    moved = Ending(NAME, "2030-01-31", new, state="moved")
    endings = StoredEndings(listed.server.application.storage.tables)
    run_sync(endings.put_former(moved))
    run_sync(endings.put(moved))
    listed.update()
    shown = listed.server.get("/r/blue/v0.1/servers?search=calendar", key=listed.bob).json["servers"]
    assert [(item["server"]["name"], item["server"]["version"]) for item in shown] == [(NAME, "1.0.0")]


def test_wrong_channels_are_rejected(listed: Listed) -> None:
    for number, alias, name, code in (
        ("1.0.0", "latest", NAME, "alias_wrong"),
        ("1.0.0", "Production", NAME, "alias_wrong"),
        ("9.0.0", "production", NAME, "version_unknown"),
        ("\0", "production", NAME, "version_unknown"),
        ("1.0.0", "production", "a/b", "version_unknown"),
    ):
        with pytest.raises(BadInput) as raised:
            pin(listed, number, alias, name)
        assert raised.value.code == code
    put(listed.lists, "every", is_all=True)
    with pytest.raises(BadInput, match="no channels"):
        run_sync(channels(listed).pin("every", NAME, "1.0.0", "production"))
    with pytest.raises(NotFound):
        run_sync(channels(listed).pin("none", NAME, "1.0.0", "production"))
    with pytest.raises(NotFound):
        run_sync(channels(listed).unpin("blue", NAME, "production"))


def test_operators_pin_on_the_page_of_the_list(server: Server, operator: Browser) -> None:
    server.publish(version("1.0.0"), version("2.0.0"))
    operator.get("/admin/lists")
    operator.post("/admin/lists", {"name": "mail", "title": "Mail"})
    page = "/admin/lists/mail"
    operator.get(page)
    assert operator.submit(f"{page}/pin", {"entry": NAME, "version": "9", "alias": ""}) == "version_unknown"
    operator.follow(operator.post(f"{page}/pin", {"entry": NAME, "version": "1.0.0", "alias": ""}))
    assert "production: 1.0.0" in operator.text
    operator.follow(operator.post(f"{page}/unpin", {"entry": NAME, "alias": "production"}))
    assert "production: 1.0.0" not in operator.text


def test_the_command(directory: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('[{"name":"a/b","version":"1","description":"x"}]')
    directory.succeed("import", str(tmp_path / "a.json"))
    directory.succeed("lists", "put", "mail")
    directory.succeed("lists", "pin", "mail", "a/b", "1", "--alias", "beta")
    directory.succeed("lists", "unpin", "mail", "a/b", "--alias", "beta")
    assert "no channel" in directory.fail("lists", "unpin", "mail", "a/b").lower()
