"""Moves from end to end: the old name says where the entry is, and the new one has its versions."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from directory_server.domain.entries import OFFICIAL, mcp_id_of
from directory_server.features.managed_settings.selection import Selection
from directory_server.runtime.run_sync import inline, run_sync
from directory_server.serialization import decode_entry
from directory_server.tables import StoredCuration

from ...cli.conftest import CommandLine
from ...web.browsers import Browser
from ...web.conftest import Server, entry
from ...web.pages.conftest import GetPage
from ..lists.conftest import SECRET, open_listed, put
from ..lookalikes.test_apis import find_lookalikes
from ..publishing.conftest import Publisher, new_publisher, server_json
from .test_endings import META

OLD, NEW = "io.acme/mial", "com.acmecorp/mail"
OLD_ID, NEW_ID = mcp_id_of(OLD), mcp_id_of(NEW)
PACKAGES = [{"registryType": "npm", "identifier": "mial", "version": "1.0.0", "transport": {"type": "stdio"}}]

publishing = pytest.mark.parametrize("server", [{"publish.enabled": True}], indirect=True, ids=["publishing"])


@pytest.fixture
def publisher(server: Server) -> Publisher:
    """Return a publisher of two versions of OLD."""
    publisher = new_publisher(server, "io.acme/*", "com.acmecorp/*")
    for version in ("1.0.0", "2.0.0"):
        publisher.publish(server_json(OLD, version, packages=PACKAGES))
    return publisher


def move(publisher: Publisher, name: str, new_name: str, **body: str) -> Any:
    path = f"/v0.1/servers/{quote(name, safe='')}/move"
    response = publisher.send("POST", path, {"new_name": new_name, **body})
    publisher.server.application.feed.wake()
    return response.json.get("moved", response.status)


def versions(server: Server, name: str) -> list[str]:
    listed = server.get(f"/v0.1/servers/{quote(name, safe='')}/versions").json.get("servers", ())
    return [item["server"]["version"] for item in listed]


@publishing
def test_the_old_name_says_where_the_entry_is_and_keeps_its_history(publisher: Publisher, get_page: GetPage) -> None:
    server = publisher.server
    assert move(publisher, OLD, NEW, message="A typo.") == {OLD: NEW}
    assert versions(server, OLD) == versions(server, NEW) == ["2.0.0", "1.0.0"]
    latest = server.get(f"/v0.1/servers/{quote(OLD, safe='')}/versions/latest").json["_meta"]
    assert (latest[META]["state"], latest[META]["replaced_by"]) == ("moved", NEW)
    assert latest[OFFICIAL]["status"] == "deprecated"
    assert latest[OFFICIAL]["statusMessage"] == f"Moved to {NEW}. A typo."
    new = server.get(f"/v0.1/servers/{quote(NEW, safe='')}/versions/latest").json
    assert new["_meta"][OFFICIAL]["status"] == "active"
    assert META not in new["_meta"]
    assert server.get(f"/api/open/v1/entries/{OLD_ID}").json["ends"]["mcp_id"] == NEW_ID
    assert f'Moved to <a href="/servers/{NEW_ID}">' in get_page(f"/servers/{OLD_ID}").body.decode()
    assert ("move", OLD, "*", "done") in publisher.log()


@publishing
def test_a_search_for_the_old_name_finds_both(publisher: Publisher) -> None:
    move(publisher, OLD, NEW)
    hits = publisher.server.call("search_mcp", {"keywords": OLD})["structuredContent"]["data"]
    assert {hit["mcp_id"]: hit.get("ends", {}).get("mcp_id") for hit in hits} == {OLD_ID: NEW_ID, NEW_ID: None}


@publishing
def test_a_mirror_that_asks_for_updates_gets_the_move(publisher: Publisher) -> None:
    server = publisher.server
    run_sync(server.application.storage.tables.run("UPDATE entry SET updated_at = 1.0"))
    move(publisher, OLD, NEW)
    updated = server.get("/v0.1/servers?version=latest&updated_since=2020-01-01T00:00:00Z").json["servers"]
    found = {item["server"]["name"]: item["_meta"][OFFICIAL].get("statusMessage") for item in updated}
    assert found == {OLD: f"Moved to {NEW}.", NEW: None}
    # What another directory stores.
    (mirrored,) = (decode_entry(item) for item in updated if item["server"]["name"] == OLD)
    assert (mirrored.status, mirrored.status_message) == ("deprecated", f"Moved to {NEW}.")
    assert META not in mirrored.meta


@publishing
def test_a_namespace_moves_with_all_of_its_names(publisher: Publisher) -> None:
    publisher.publish(server_json("io.acme/news"))
    moved = {"io.acme/mial": "com.acmecorp/mial", "io.acme/news": "com.acmecorp/news"}
    assert move(publisher, "io.acme/*", "com.acmecorp/*") == moved
    assert move(publisher, "io.acme/*", "com.acmecorp/*") == moved
    assert versions(publisher.server, "com.acmecorp/mial") == ["2.0.0", "1.0.0"]


@publishing
def test_only_an_owner_of_both_names_moves(publisher: Publisher) -> None:
    server = publisher.server
    assert move(publisher, OLD, "com.other/mail") == 403
    assert move(publisher, "com.acmecorp/none", OLD) == 400
    assert move(new_publisher(server, "com.acmecorp/*"), OLD, NEW) == 403
    assert move(publisher, "io.acme/*", "com.other/*") == 403
    assert (
        move(publisher, "io.acme/*", NEW)
        == move(publisher, OLD, OLD)
        == move(publisher, "com.acmecorp/*", "io.acme/*")
        == 400
    )
    assert versions(server, NEW) == []
    assert server.get(f"/api/open/v1/entries/{OLD_ID}").json["ends"] is None


@publishing
def test_a_name_that_has_moved_is_no_new_name_until_it_is_taken_back(publisher: Publisher) -> None:
    server = publisher.server
    move(publisher, OLD, NEW)
    assert move(publisher, NEW, OLD) == 400
    path = f"/v0.1/servers/{quote(OLD, safe='')}/end-of-life"
    assert publisher.send("PUT", path, {"date": "2031-01-31"}).status == 400
    assert publisher.send("PUT", path, {"date": ""}).status == 200
    server.application.feed.wake()
    assert server.get(f"/api/open/v1/entries/{OLD_ID}").json["ends"] is None
    assert server.get(f"/api/open/v1/search?keywords=%22{quote(OLD, safe='')}%22&fields=mcp_id").json["data"] == [
        {"mcp_id": OLD_ID}
    ]
    assert move(publisher, NEW, OLD) == {NEW: OLD}


@publishing
def test_a_name_that_moves_again_is_found_at_its_last_place_only(publisher: Publisher) -> None:
    other = "com.acmecorp/post"
    move(publisher, OLD, NEW)
    assert move(publisher, OLD, other) == {OLD: other}
    hits = publisher.server.call("search_mcp", {"keywords": OLD})["structuredContent"]["data"]
    assert {hit["mcp_id"] for hit in hits} == {OLD_ID, mcp_id_of(other)}


@publishing
def test_the_flags_of_a_name_hold_for_one_other(publisher: Publisher) -> None:
    server, names = publisher.server, [OLD, NEW, "com.acmecorp/post", "com.acmecorp/news"]
    curation = StoredCuration(server.application.storage.tables)

    def allowed() -> list[str]:
        return [name for name in names if run_sync(curation.find(name)).allowed]

    run_sync(curation.mark(OLD, "allowed", True))
    move(publisher, OLD, NEW)
    assert allowed() == [OLD, NEW]
    move(publisher, OLD, names[2])
    assert allowed() == [OLD, names[2]]
    move(publisher, names[2], names[3])
    assert allowed() == [OLD, names[3]]
    for name in (names[2], OLD):
        path = f"/v0.1/servers/{quote(name, safe='')}/end-of-life"
        assert publisher.send("PUT", path, {"date": ""}).status == 200
    assert allowed() == [OLD]
    # What an operator has allowed stays.
    run_sync(curation.mark(NEW, "allowed", True))
    move(publisher, OLD, NEW)
    assert publisher.send("PUT", path, {"date": ""}).status == 200
    assert allowed() == [OLD, NEW]


@publishing
def test_few_names_move_to_one(publisher: Publisher, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("directory_server.tables._endings.MAX_FORMER", 1)
    publisher.publish(server_json("io.acme/news"))
    move(publisher, OLD, NEW)
    assert move(publisher, "io.acme/news", NEW) == 400
    assert move(publisher, OLD, NEW) == {OLD: NEW}


@publishing
def test_the_new_entry_is_no_look_alike_of_the_old_one(publisher: Publisher) -> None:
    server = publisher.server
    move(publisher, OLD, NEW)
    server.clock.advance(60)
    publisher.publish(server_json("com.acmecorp/other", packages=PACKAGES))
    find_lookalikes(server)
    server.application.feed.wake()
    flags = {name: server.get(f"/api/open/v1/entries/{mcp_id_of(name)}").json["flags"] for name in (OLD, NEW)}
    assert flags == {OLD: [], NEW: []}
    assert server.get(f"/api/open/v1/entries/{mcp_id_of('com.acmecorp/other')}").json["flags"] == ["lookalike"]


def test_an_operator_moves_on_pages_and_takes_it_back(server: Server, operator: Browser) -> None:
    server.publish(entry(OLD, "Reads mail."), entry("io.acme/post", "Reads post."))
    path = "/admin/moves"
    operator.get(path)
    assert operator.submit(path, {"name": OLD, "new_name": NEW}) == "move_new_name_unknown"
    operator.follow(operator.post(path, {"name": OLD, "new_name": "io.acme/post"}))
    assert "io.acme/post" in operator.page
    operator.get("/admin/end-of-life")
    assert OLD not in operator.page
    operator.post(f"{path}/{OLD_ID}/remove")
    operator.get(path)
    assert OLD not in operator.page


def test_a_pick_of_a_list_and_managed_settings_follow_the_move(tmp_path: Path) -> None:
    with open_listed(tmp_path) as listed:
        server = listed.server
        storage = server.application.storage
        remotes = [{"type": "streamable-http", "url": "https://mail.example.org/mcp"}]
        new = [{"type": "streamable-http", "url": "https://new.example.org/mcp"}]
        listed.publish(entry(OLD, "Reads mail.", remotes=remotes), entry(NEW, "Reads mail.", remotes=new))
        put(listed.lists, "picks", is_open=True)
        run_sync(listed.lists.pick("picks", OLD))
        listed.update()

        def urls() -> list[str]:
            selection = Selection(storage.store, StoredCuration(storage.tables), inline, storage.tables)
            policy = run_sync(selection.within(frozenset({"picks"}), "picks").policy(""))
            return [url for url in ("https://mail.", "https://new.") if url in str(policy.document("managed-mcp.json"))]

        assert urls() == ["https://mail."]
        operator_move(server)
        listed.update()
        assert urls() == ["https://mail.", "https://new."]
        run_sync(StoredCuration(storage.tables).mark(OLD, "allowed", True))
        curated = Selection(storage.store, StoredCuration(storage.tables), inline, storage.tables)
        assert "https://new." in str(run_sync(curated.policy("")).document("managed-mcp.json"))


def operator_move(server: Server) -> None:
    from directory_server.features.end_of_life.resource import MOVES
    from directory_server.resource import Parts

    application = server.application
    parts = Parts(application.server.config, application.storage, server.clock, server.clock.seconds, lambda: "")
    assert MOVES.add
    run_sync(MOVES.add.run(parts, name=OLD, new_name=NEW, message=""))


def test_the_commands(directory: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(
        '[{"name":"a/b","version":"1","description":"x"},{"name":"c/d","version":"1","description":"x"}]'
    )
    directory.succeed("import", str(tmp_path / "a.json"))
    directory.succeed("end-of-life", "set", "c/d", "--date", "2031-01-31", "--message", "Bye.")
    assert "2031-01-31" in directory.succeed("end-of-life", "list")
    directory.succeed("end-of-life", "remove", "c/d")
    directory.succeed("move", "add", "a/b", "c/d")
    assert "c/d" in directory.succeed("move", "list")
    directory.succeed("move", "remove", "a/b")
    assert "c/d" not in directory.succeed("move", "list")


def test_a_publisher_learns_nothing_of_entries_that_it_may_not_see(tmp_path: Path) -> None:
    with open_listed(tmp_path, **{"publish.enabled": True}) as listed:
        listed.publish(SECRET)
        publisher = new_publisher(listed.server, "io.acme/*")
        publisher.publish(server_json(OLD))

        def answers(name: str, namespace: str) -> list[str]:
            of_old = f"/v0.1/servers/{quote(OLD, safe='')}"
            of_others = f"/v0.1/servers/{quote(namespace, safe='')}"
            found = [
                publisher.send("PUT", f"{of_old}/end-of-life", {"date": "2031-01-31", "replaced_by": name}),
                publisher.send("POST", f"{of_others}/move", {"new_name": "io.acme/*"}),
            ]
            return [answer.body.decode().replace(name, "").replace(namespace.removesuffix("*"), "") for answer in found]

        assert answers(SECRET.name, "io.github.secret/*") == answers("io.github.none/vault", "io.github.none/*")
