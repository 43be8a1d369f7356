"""Reports of readers about entries."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlencode

import pytest

from directory_server.domain.requests import Request
from directory_server.features.reports.resource import REASONS, REPORT, new_report
from directory_server.runtime.run_sync import run_sync

from ..conftest import POSTGRES_ID, Response, Server, entry
from .conftest import BROWSER, Document, GetPage

FORM = f"/servers/{POSTGRES_ID}/report"
HOSTILE = "</textarea><script>alert(1)</script>\u202e\0"


def send(server: Server, path: str = FORM, body: bytes = b"", address: str = "127.0.0.1", **fields: str) -> Response:
    """Send a form as a browser does: `body`, or the `fields`. Fields that begin with `header_` are headers."""
    headers = {name[7:].replace("_", "-"): fields.pop(name) for name in list(fields) if name.startswith("header_")}
    sent = {**BROWSER, "Content-Type": "application/x-www-form-urlencoded", "Origin": "http://localhost", **headers}
    encoded = body or urlencode(fields).encode()
    return server.request("POST", path, key=None, headers=sent, body=encoded, address=address)


def stored(server: Server) -> Sequence[Request]:
    return run_sync(server.reports.list(is_open=True, limit=99))


def text_of(server: Server) -> str:
    [report] = stored(server)
    return run_sync(server.reports.texts([report]))[report.id]


def test_the_entry_page_leads_to_the_form(get_page: GetPage) -> None:
    assert FORM in Document(get_page(f"/servers/{POSTGRES_ID}")).links
    page = Document(get_page(FORM))
    assert "Report an entry" in page.text
    (form,) = page.all("form")
    assert (form["method"], form["action"]) == ("post", FORM)
    assert [option["value"] for option in page.all("option")] == ["", *REASONS]
    assert "autofocus" in page.all("select")[0]


def test_a_report_is_stored_and_confirmed(server: Server, get_page: GetPage) -> None:
    response = send(server, reason="broken", text="It does\r\nnot start.")
    assert response.status == 303
    assert response.headers["Location"] == f"{FORM}/sent"
    (report,) = stored(server)
    assert (report.subject, report.created_at, report.account) == (POSTGRES_ID, server.clock.seconds(), None)
    assert report.details == {"name": "io.github.example/postgres-mcp", "version": "1.0.0", "reason": "broken"}
    assert text_of(server) == "It does\nnot start."
    assert "Report sent." in Document(get_page(f"{FORM}/sent")).text


@pytest.mark.parametrize(
    ("fields", "message", "wrong"),
    [
        ({"text": "x"}, "Choose a reason.", "select"),
        ({"reason": "<b>"}, "Choose a reason.", "select"),
        ({"reason": "spam", "text": "x" * (REPORT.longest + 1)}, "at most 1000 characters", "textarea"),
        ({"reason": "other", "text": " \n"}, "Describe the reason.", "textarea"),
    ],
)
def test_an_invalid_report_is_shown_again(server: Server, fields: dict[str, str], message: str, wrong: str) -> None:
    response = send(server, FORM, b"", "127.0.0.1", **fields)
    assert response.status == 400
    page = Document(response)
    assert message in page.text
    assert fields.get("text", "").strip() in page.text
    (field,) = page.all(wrong)
    assert field["aria-describedby"] == "form-error"
    assert "autofocus" in field
    assert not stored(server)


def test_invalid_reports_do_not_count(server: Server) -> None:
    for _ in range(10):
        assert send(server, reason="").status == 400
    assert send(server, reason="spam").status == 303


def test_the_longest_text_fits_in_the_form(server: Server) -> None:
    text = "\N{OK HAND SIGN}" * REPORT.longest
    assert send(server, reason="other", text=text).status == 303
    assert text_of(server) == text


def test_hostile_texts_are_cleaned_and_escaped(server: Server) -> None:
    response = send(server, reason="<script>", text=HOSTILE)
    assert b"<script>alert" not in response.body
    assert len(Document(response).all("textarea")) == 1
    send(server, reason="spam", text=HOSTILE)
    assert text_of(server) == "</textarea><script>alert(1)</script>\ufffd"


@pytest.mark.parametrize(
    "headers",
    [
        {"header_Origin": "https://evil.example"},
        {"header_Origin": "null"},
        {"header_Origin": "https://app.example.org"},
        {"header_Sec_Fetch_Site": "cross-site"},
        {"header_Sec_Fetch_Site": "same-site"},
    ],
)
def test_forms_of_other_sites_are_rejected(server: Server, headers: dict[str, str]) -> None:
    assert send(server, FORM, b"reason=spam", "127.0.0.1", **headers).status == 403
    assert not stored(server)


@pytest.mark.parametrize("body", [b"reason=%ff", b"reason=" + b"x" * 17_000, b"&".join([b"a=b"] * 30)])
def test_bodies_that_are_no_form_are_rejected(server: Server, body: bytes) -> None:
    assert send(server, body=body).status == 400
    assert send(server, body=b"{}", header_Content_Type="application/json").status == 400
    assert not stored(server)


def test_an_address_can_send_few_reports(server: Server) -> None:
    for _ in range(5):
        assert send(server, reason="spam", text="x").status == 303
    rejected = send(server, reason="spam", text="Not lost.")
    assert rejected.status == 429
    page = Document(rejected)
    assert "Too many reports were sent from your network. Try again in 144 minutes." in page.text
    assert "Not lost." in page.text
    assert send(server, reason="spam", address="192.0.2.1").status == 303
    server.clock.advance(86_400 / 10)
    assert send(server, reason="spam").status == 303


def test_a_network_can_send_some_reports(server: Server) -> None:
    statuses = [send(server, reason="spam", address=f"192.0.2.{number // 4}").status for number in range(20)]
    assert statuses == [303] * 15 + [429] * 5
    assert send(server, reason="spam", address="198.51.100.1").status == 303


def test_many_open_reports_of_an_entry_are_rejected(server: Server) -> None:
    for _ in range(REPORT.per_subject):
        run_sync(server.reports.add(new_report(POSTGRES_ID, "name", "1", "spam", ""), "", 1.0))
    response = send(server, reason="spam")
    assert response.status == 403
    assert "Too many reports wait for the operator." in Document(response).text


@pytest.mark.parametrize("path", ["", "/sent"])
def test_unknown_entries_have_no_form(get_page: GetPage, server: Server, path: str) -> None:
    unknown = f"/servers/{entry('x/unknown').mcp_id}/report{path}"
    assert get_page(unknown).status == 404
    assert send(server, f"/servers/{entry('x/unknown').mcp_id}/report", reason="spam").status == 404


@pytest.mark.parametrize("server", [{"reports.enabled": False}], indirect=True)
def test_reports_can_be_turned_off(server: Server, get_page: GetPage) -> None:
    assert FORM not in Document(get_page(f"/servers/{POSTGRES_ID}")).links
    assert get_page(FORM).status == 404
    assert send(server, reason="spam").status == 404
    assert not stored(server)


@pytest.mark.parametrize("server", ["accounts"], indirect=True)
def test_a_directory_of_members_takes_reports_of_members(server: Server, get_page: GetPage) -> None:
    assert get_page(FORM).status == 303
    assert send(server, reason="spam").status == 303
    assert not stored(server)
    assert send(server, reason="spam", header_Cookie="test=ann").headers["Location"] == f"{FORM}/sent"
    assert len(stored(server)) == 1
