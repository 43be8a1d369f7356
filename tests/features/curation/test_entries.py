"""Operator pages of entries: flags, edits and lists."""

from __future__ import annotations

import re
from urllib.parse import quote

import pytest

from directory_server.domain.entries import Entry
from directory_server.runtime.run_sync import run_sync

from ...web.browsers import Browser
from ...web.conftest import MAIL, POSTGRES, POSTGRES_ID, Server
from ..operators._pages import HOSTILE, hits

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


INVALID_MARKS = [
    {"name": "no such name", "mark": "hidden", "on": "yes"},
    {"name": "io.example/nothing", "mark": "hidden", "on": "yes"},
    {"name": POSTGRES.name, "mark": "local", "on": "yes"},
    {"name": POSTGRES.name, "mark": "hidden", "on": "maybe"},
    {"name": "", "mark": "hidden", "on": "yes"},
    {"name": "\udc80\0\r\nSet-Cookie: a=b".encode("utf-8", "replace").decode(), "mark": "hidden", "on": "yes"},
]


def test_rejects_invalid_marks(server: Server, operator: Browser, subtests: pytest.Subtests) -> None:
    for fields in INVALID_MARKS:
        with subtests.test(str(fields)):
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
