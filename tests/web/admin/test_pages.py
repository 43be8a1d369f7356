"""Operator pages: what they show and change."""

from __future__ import annotations

import re
from time import perf_counter
from typing import Any
from urllib.parse import quote

import pytest
from attrs import evolve, field, frozen

from directory_server import __version__
from directory_server.domain.accounts import Account
from directory_server.domain.entries import Entry
from directory_server.domain.upstreams import FinishedRun, UpstreamState
from directory_server.run_sync import run_sync

from ..conftest import MAIL, POSTGRES, POSTGRES_ID, Server
from .conftest import ANN, Browser

HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>&amp;{{7*7}}"
MAX_BYTES = 30_000


def hits(server: Server, keywords: str) -> list[Any]:
    found: list[Any] = server.get(f"/api/open/v1/search?keywords={keywords}").json["data"]
    return found


def test_overview_shows_the_server(server: Server, operator: Browser) -> None:
    server.clock.advance(3_725)
    operator.get("/admin")
    assert f"Version {__version__}" in operator.text
    assert "Uptime 0 d 1 h 2 min" in operator.text
    assert "Entries 2" in operator.text
    assert "Open streams of keys 0" in operator.text
    stream = server.open("GET", "/api/open/v1/changes", headers={"Accept": "text/event-stream"})
    operator.get("/admin")
    assert "Open streams of keys 1" in operator.text
    stream.close()


def test_links_to_the_documentation_work(operator: Browser) -> None:
    operator.get("/admin")
    links = re.findall(r'href="(/docs/[^"]*)"', operator.page)
    assert len(links) == 4
    for link in links:
        assert operator.get(link).status == 200, link


def test_overview_shows_accounts_that_wait(server: Server, operator: Browser) -> None:
    operator.get("/admin")
    assert "approval</a>" not in operator.page
    run_sync(server.accounts.register("eve@example.org", "hash", most=5))
    operator.get("/admin")
    assert "1 account waits for approval" in operator.text
    operator.get("/admin/accounts?state=pending")
    assert "eve@example.org" in operator.text
    # Its own address is in the footer.
    assert operator.text.count("operator@example.org") == 1


def test_accounts_are_searched_and_paged(server: Server, operator: Browser) -> None:
    for number in range(45):
        server.clock.advance(1)
        run_sync(server.accounts.add(f"user{number:02}@example.net"))
    seen: list[str] = []
    path = "/admin/accounts?q=USER"
    while path:
        response = operator.get(path)
        assert len(response.body) < MAX_BYTES
        seen += re.findall(r"user\d+@example.net", operator.page)
        following = re.search(r'href="([^"]*)" rel="next"', operator.page)
        path = following[1].replace("&amp;", "&") if following else ""
    assert seen == [f"user{number:02}@example.net" for number in reversed(range(45))]
    operator.get("/admin/accounts?q=nobody")
    assert "Nothing found" in operator.text


def test_approves_an_account(server: Server, operator: Browser) -> None:
    eve = run_sync(server.accounts.register("eve@example.org", "hash", most=5))
    path = f"/admin/accounts/{eve.id}"
    operator.get(path)
    operator.follow(operator.post(f"{path}/approve"))
    assert "Account approved." in operator.text
    assert "State Active" in operator.text
    found = run_sync(server.accounts.find(eve.email))
    assert found is not None
    assert found.approved


def test_disables_an_account_after_a_confirmation_and_enables_it(
    server: Server, ann: Account, member: Browser, operator: Browser
) -> None:
    path = f"/admin/accounts/{ann.id}"
    operator.get(path)
    assert f"{path}/disable" in operator.page
    operator.get(f"{path}/disable")
    assert "Disable this account?" in operator.text
    assert member.get("/account/keys").status == 200
    operator.follow(operator.post(f"{path}/disable"))
    assert "Account disabled." in operator.text
    assert member.get("/account/keys").status == 303
    operator.follow(operator.post(f"{path}/enable"))
    assert "Account enabled." in operator.text
    assert member.try_sign_in() == ""


def test_an_operator_cannot_disable_the_own_account(
    server: Server, operator_account: Account, operator: Browser
) -> None:
    path = f"/admin/accounts/{operator_account.id}"
    operator.get(path)
    assert f"{path}/disable" not in operator.page
    operator.get("/account/keys")
    assert operator.submit(f"{path}/disable") == "own_account"
    assert operator.get("/admin").status == 200


def test_the_page_of_an_account_lists_its_keys(server: Server, ann: Account, operator: Browser) -> None:
    for number in range(60):
        run_sync(server.keys.create(f"key {number}", limit=20, expires_at=None, owner=ann.id))
    response = operator.get(f"/admin/accounts/{ann.id}")
    assert len(response.body) < MAX_BYTES
    assert operator.text.count("key ") == 50
    assert "All 60 keys" in operator.text


@pytest.mark.parametrize("path", ["/admin/accounts/nosuchid", "/admin/keys/nosuchid", "/admin/entry?name=nothing"])
def test_unknown_objects_are_not_found(operator: Browser, path: str) -> None:
    assert operator.get(path).status == 404


def test_changes_the_limit_of_a_key(server: Server, operator: Browser) -> None:
    path = f"/admin/keys/{server.key_id}"
    hits(server, "postgres")
    operator.get(path)
    assert "Last 60 minutes: 1 of 20" in operator.text
    operator.follow(operator.post(f"{path}/limit", {"limit": "500"}))
    assert "Limit changed." in operator.text
    assert server.get("/api/open/v1/search?keywords=mail").headers["X-RateLimit-Limit"] == "500"
    operator.follow(operator.post(f"{path}/limit", {"limit": "unlimited"}))
    assert "No request limit" in operator.text


@pytest.mark.parametrize("limit", ["0", "-1", "1.5", "many", "", "9" * 30, "٣", HOSTILE])
def test_rejects_an_invalid_limit(server: Server, operator: Browser, limit: str) -> None:
    path = f"/admin/keys/{server.key_id}"
    operator.get(path)
    assert operator.submit(f"{path}/limit", {"limit": limit}) == "limit_wrong"
    assert 'aria-invalid="true"' in operator.page
    assert "<script>alert" not in operator.page
    assert run_sync(server.keys.list())[0].limit == 20


def test_finds_and_revokes_a_key_after_a_confirmation(server: Server, ann: Account, operator: Browser) -> None:
    key, secret = run_sync(server.keys.create("laptop", limit=20, expires_at=None, owner=ann.id))
    for text in ("LAPTOP", "ann@", key.id):
        operator.get(f"/admin/keys?q={quote(text)}")
        assert f"/admin/keys/{key.id}" in operator.page
        assert server.key_id not in operator.page
    assert secret not in operator.page
    operator.get(f"/admin/keys/{key.id}/revoke")
    assert ANN in operator.text
    operator.follow(operator.post(f"/admin/keys/{key.id}/revoke"))
    assert "Key revoked." in operator.text
    assert server.get("/api/open/v1/search?keywords=mail", key=secret).status == 401
    assert operator.get(f"/admin/keys/{key.id}").status == 404


MARKS = [("hidden", "Hide", "Show again"), ("pinned", "Pin", "Unpin"), ("allowed", "Allow", "Disallow")]


@pytest.mark.parametrize(("mark", "set_text", "clear_text"), MARKS)
def test_marks_an_entry_from_its_page(
    server: Server, operator: Browser, mark: str, set_text: str, clear_text: str
) -> None:
    operator.get(f"/servers/{POSTGRES_ID}")
    assert set_text in operator.text
    operator.follow(operator.post("/admin/entry/mark", {"name": POSTGRES.name, "mark": mark, "on": "yes"}))
    assert operator.error == ""
    assert f"Entry {mark}" in operator.text
    assert clear_text in operator.text
    server.clock.advance(1)
    assert bool(hits(server, "postgres")) == (mark != "hidden")
    operator.get("/admin/entries")
    assert POSTGRES.name in operator.text
    operator.get(f"/admin/entry?name={POSTGRES.name}")
    operator.follow(operator.post("/admin/entry/mark", {"name": POSTGRES.name, "mark": mark, "on": "no"}))
    server.clock.advance(1)
    assert hits(server, "postgres")
    assert set_text in operator.text


def test_members_see_no_bar(member: Browser, operator: Browser) -> None:
    member.get(f"/servers/{POSTGRES_ID}")
    assert "/admin" not in member.page
    operator.get(f"/servers/{POSTGRES_ID}")
    assert 'action="/admin/entry/mark"' in operator.page


@pytest.mark.parametrize(
    "fields",
    [
        {"name": "no such name", "mark": "hidden", "on": "yes"},
        {"name": "io.example/nothing", "mark": "hidden", "on": "yes"},
        {"name": POSTGRES.name, "mark": "local", "on": "yes"},
        {"name": POSTGRES.name, "mark": "hidden", "on": "maybe"},
        {"name": "", "mark": "hidden", "on": "yes"},
        {"name": "\udc80\0\r\nSet-Cookie: a=b".encode("utf-8", "replace").decode(), "mark": "hidden", "on": "yes"},
    ],
)
def test_rejects_invalid_marks(server: Server, operator: Browser, fields: dict[str, str]) -> None:
    operator.get("/admin/entry?name=" + POSTGRES.name)
    response = operator.post("/admin/entry/mark", fields)
    assert response.status in (303, 400)
    assert "Set-Cookie: a=b" not in str(response.headers)
    operator.get("/admin/entries")
    assert operator.text.count("Hidden") == 0
    assert hits(server, "postgres")


def test_edits_an_entry_and_removes_the_edit(server: Server, operator: Browser) -> None:
    upstream = Entry({**MAIL.server, "name": "io.example/edited", "description": "Reads zebras."})
    run_sync(server.directory.publish("official", [upstream]))
    path = "/admin/entry?name=io.example/edited"
    operator.get(path)
    assert "Reads zebras." in operator.page
    fields = {"name": "io.example/edited", "title": HOSTILE, "description": "Reads giraffes.", "websiteUrl": ""}
    operator.follow(operator.post("/admin/entry/edit", fields))
    assert "Entry saved." in operator.text
    assert "<script>alert" not in operator.page
    assert hits(server, "giraffes")
    operator.get("/admin/entry/disown?name=io.example/edited")
    assert "Remove your version of this entry?" in operator.text
    operator.follow(operator.post("/admin/entry/disown", {"name": "io.example/edited"}))
    server.clock.advance(1)
    assert hits(server, "zebras")
    assert not hits(server, "giraffes")


def test_an_edit_without_changes_stores_nothing(server: Server, operator: Browser) -> None:
    run_sync(server.directory.publish("official", [Entry({**MAIL.server, "name": "io.example/same"})]))
    operator.get("/admin/entry?name=io.example/same")
    fields = {"description": MAIL.server["description"], "websiteUrl": MAIL.server["websiteUrl"]}
    operator.follow(operator.post("/admin/entry/edit", {"name": "io.example/same", "title": "", **fields}))
    assert "Nothing was changed." in operator.text
    assert "Edited or added here" not in operator.text


def test_rejects_an_edit_that_is_too_long_or_makes_the_entry_invalid(server: Server, operator: Browser) -> None:
    for fields in ({"description": "x" * 1001}, {"description": ""}):
        operator.get("/admin/entry?name=" + POSTGRES.name)
        assert operator.submit("/admin/entry/edit", {"name": POSTGRES.name, **fields}) in ("field_long", "bad_request")
    assert hits(server, "postgres")[0]["brief"] == POSTGRES.server["description"]


def test_curated_entries_are_paged(server: Server, operator: Browser) -> None:
    for number in range(25):
        run_sync(server.directory.publish("local", [Entry({**MAIL.server, "name": f"io.example/n{number:02}"})]))
    operator.get("/admin/entries")
    first = re.findall(r"io.example/n\d\d(?=</bdi>)", operator.page)
    following = re.search(r'href="([^"]*)" rel="next"', operator.page)
    assert following
    operator.get(following[1])
    second = re.findall(r"io.example/n\d\d(?=</bdi>)", operator.page)
    assert first + second == [f"io.example/n{number:02}" for number in range(25)]


def test_curated_entries_are_searched(server: Server, operator: Browser) -> None:
    for number in range(25):
        run_sync(server.directory.publish("local", [Entry({**MAIL.server, "name": f"io.example/Mail{number:02}"})]))
    run_sync(server.directory.publish("local", [Entry({**MAIL.server, "name": "io.example/other"})]))
    operator.get("/admin/entries?q=+mail+")
    found = re.findall(r"io.example/\w+(?=</bdi>)", operator.page)
    following = re.search(r'href="([^"]*)" rel="next"', operator.page)
    assert following
    assert 'name="q" value="mail"' in operator.page
    operator.get(following[1].replace("&amp;", "&"))
    found += re.findall(r"io.example/\w+(?=</bdi>)", operator.page)
    assert found == [f"io.example/Mail{number:02}" for number in range(25)]
    operator.get(f"/admin/entries?q={quote(HOSTILE)}")
    assert "Nothing found." in operator.text
    assert HOSTILE not in operator.page


@frozen
class FakeUpstream:
    """An upstream that records requested sync runs."""

    state: UpstreamState
    is_syncing: bool = False
    requested: list[bool] = field(factory=list)

    def sync_now(self) -> bool:
        self.requested.append(True)
        return not self.is_syncing


def test_shows_upstreams_and_syncs_on_request(server: Server, operator: Browser) -> None:
    pages = server.site._routes.admin.server
    failing = UpstreamState("a/b é", entries=1_234, last_run=1_700_000_000.0, error=HOSTILE, failures=2)
    upstream = FakeUpstream(failing)
    run_sync(pages._mirrors.put(failing, run=FinishedRun(1_700_000_000.0, 1_700_000_065.0, True, 4_321, error=HOSTILE)))
    run_sync(pages._mirrors.put(failing, run=FinishedRun(1_700_003_600.0, 1_700_003_601.0, False)))
    shown = evolve(pages, server=evolve(pages._server, upstreams=[upstream]))
    object.__setattr__(pages, "_server", shown._server)
    operator.get("/admin")
    assert "The upstream a/b é fails." in operator.text
    operator.get("/admin/upstreams")
    assert "1,234" in operator.text
    assert "2023-11-14 22:13 UTC" in operator.text
    assert "<script>alert" not in operator.page
    rows = [row.partition("</tr>")[0] for row in operator.page.split("<tr>")[2:]]
    assert len(rows) == 2
    assert "2023-11-14 23:13 UTC" in rows[0]
    assert "<td>Done</td>" in rows[0]
    assert "<td>65</td><td>Yes</td><td>4,321</td>" in rows[1]
    operator.follow(operator.post("/admin/upstreams/sync", {"name": "a/b é"}))
    assert "Sync run started." in operator.text
    assert upstream.requested == [True]
    operator.follow(operator.post("/admin/upstreams/sync", {"name": "unknown"}))
    assert "no longer configured" in operator.text


def test_errors_of_upstreams_are_translated(server: Server, operator: Browser) -> None:
    pages = server.site._routes.admin.server
    state = UpstreamState("a", error="It cannot be reached: <b>{n1}: refused.", failures=1)
    run = FinishedRun(1_700_000_000.0, 1_700_000_065.0, True, error="It answered 503.")
    run_sync(pages._mirrors.put(state, run=run))
    object.__setattr__(pages, "_server", evolve(pages._server, upstreams=[FakeUpstream(state)]))
    for path in ("/admin?lang=zh", "/admin/upstreams?lang=zh"):
        operator.get(path)
        assert "无法连接上游：&lt;b&gt;{n1}: refused。" in operator.page
    assert "上游返回了状态码 503。" in operator.page
    operator.get("/admin/upstreams?lang=en")
    assert "It answered 503." in operator.text


def test_hostile_texts_of_accounts_and_keys_are_escaped(server: Server, operator: Browser) -> None:
    email = "<img/src=x>@example.org"
    mallory = run_sync(server.accounts.register(email, "hash", most=5))
    key, _ = run_sync(server.keys.create(HOSTILE[:90], limit=20, expires_at=None, owner=mallory.id))
    paths = [
        "/admin/accounts",
        f"/admin/accounts/{mallory.id}",
        f"/admin/accounts/{mallory.id}/disable",
        "/admin/keys",
        f"/admin/keys/{key.id}",
        f"/admin/keys/{key.id}/revoke",
        f"/admin/accounts?q={quote(HOSTILE)}",
        f"/admin/keys?q={quote(HOSTILE)}&after={quote(HOSTILE)}",
        f"/admin/entry?name={quote(HOSTILE)}",
        f"/admin/entries?after={quote(HOSTILE)}",
        "/admin/accounts?after=%00&q=%FF%00",
        "/admin/keys?" + "a=1&" * 50,
    ]
    for path in paths:
        assert operator.get(path).status in (200, 404)
        assert "<script>alert" not in operator.page
        assert "<img/src" not in operator.page
        assert "<img src=x" not in operator.page


@pytest.mark.parametrize("language", ["en", "zh"])
def test_pages_are_small(server: Server, ann: Account, operator: Browser, language: str) -> None:
    for number in range(30):
        account = run_sync(server.accounts.add(f"{'x' * 230}{number}@example.org"))
        run_sync(server.keys.create("W" * 100, limit=None, expires_at=None, owner=account.id))
    for path in ("/admin", "/admin/accounts", "/admin/keys", "/admin/upstreams", "/admin/entries"):
        began = perf_counter()
        response = operator.get(f"{path}?lang={language}")
        seconds = perf_counter() - began
        assert response.status == 200
        assert len(response.body) < MAX_BYTES, path
        print(path, len(response.body), f"{seconds * 1000:.1f} ms")
