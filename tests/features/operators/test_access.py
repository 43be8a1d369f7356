"""Access to the operator pages: signed-out visitors, members, other sites, and former operators."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

import pytest

from directory_server.domain.accounts import Account
from directory_server.runtime.run_sync import run_sync
from directory_server.web import routes as web_routes

from ...logs import captured_lines
from ...web.browsers import AUDITOR, PASSWORD, Browser
from ...web.conftest import POSTGRES, POSTGRES_ID, Server
from ...web.routes import all_routes

PAGES = [route for route in all_routes() if route.path == "/admin" or route.path.startswith("/admin/")]
GETS = [route.path for route in PAGES if route.method == "GET"]
POSTS = [route.path for route in PAGES if route.method == "POST"]


def filled(path: str, values: Mapping[str, str]) -> str:
    """Return a path with an id of a record in place of each parameter."""
    values = {**values, "record_id": values.get(path.removeprefix("/admin/").partition("/")[0], "x")}
    return re.sub(r"\{(\w+)\}", lambda match: values.get(match[1], "x"), path)


def test_the_pages_are_found() -> None:
    assert len(GETS) > 8
    assert len(POSTS) > 8


def in_turn(server: Server, paths: Sequence[str], subtests: pytest.Subtests) -> Iterator[str]:
    """Yield each path, in a subtest. Nothing may be changed. The key of the server has 20 requests an hour."""
    for path in paths:
        server.clock.advance(200)
        with subtests.test(path):
            yield path
            assert_unchanged(server)


def test_a_visitor_is_redirected_to_the_sign_in(server: Server, browser: Browser, subtests: pytest.Subtests) -> None:
    for path in in_turn(server, GETS, subtests):
        response = browser.get(path)
        assert response.status == 303
        assert response.headers["Location"].startswith("/account/sign-in?next=%2Fadmin")


def test_a_visitor_changes_nothing(server: Server, browser: Browser, subtests: pytest.Subtests) -> None:
    for path in in_turn(server, POSTS, subtests):
        browser.get("/account/sign-in")
        assert browser.post(path, FIELDS).status == 303


def test_a_member_gets_the_response_of_an_unknown_path(
    server: Server, member: Browser, subtests: pytest.Subtests
) -> None:
    member.get("/account/keys")
    expected = member.get("/nowhere")
    for path in in_turn(server, [*GETS, *POSTS], subtests):
        member.get("/account/keys")
        response = member.get(path) if path in GETS else member.post(path, FIELDS)
        assert response.status == 404
        # Only the address differs, in the links of the language menu of a GET.
        assert "operator" not in member.text.lower()
        if path in GETS:
            assert response.body.replace(path.encode(), b"") == expected.body.replace(b"/nowhere", b"")


def test_an_auditor_reads_the_pages_and_all_forms_answer_403(
    server: Server, ann: Account, operator: Browser, auditor: Browser, subtests: pytest.Subtests
) -> None:
    values = {"mcp_id": POSTGRES_ID, "accounts": ann.id, "keys": server.key_id}
    for path in in_turn(server, GETS, subtests):
        path = filled(path, values) + f"?name={POSTGRES.name}"
        response = auditor.get(path)
        assert response.status == operator.get(path).status
        if response.status == 200 and "html" in response.headers["Content-Type"]:
            assert "You are an auditor" in auditor.text
    for path in in_turn(server, CHANGING, subtests):
        auditor.get("/account/keys")
        path = filled(path, values)
        assert auditor.post(path, FIELDS).status == 403
        assert "You are an auditor" in auditor.text
    for path in in_turn(server, sorted(OF_SIGN_IN), subtests):
        auditor.get("/account/keys")
        assert auditor.post(path, FIELDS).status == 303
        auditor.sign_in(AUDITOR)


OF_SIGN_IN = {
    "/account/password",
    "/account/sessions/end-others",
    "/account/sessions/{session_id}/end",
    "/account/sign-out",
}
"""The paths of forms with which an auditor may change her password and sessions."""

WITHOUT_ACCOUNT = {
    "/account/sign-in",
    "/account/invitation/{token}",
    "/account/register",
    "/account/connect/test",
}
"""The paths of forms that change nothing in an account that is signed in."""

CHANGING = [
    route.path
    for route in all_routes()
    if route.api is web_routes.PAGES and route.method not in ("GET", None)
    if route.path not in OF_SIGN_IN | WITHOUT_ACCOUNT
]


FIELDS = {
    "name": POSTGRES.name,
    "mark": "hidden",
    "on": "yes",
    "limit": "unlimited",
    "title": "Changed",
    "description": "Changed",
}


def test_forms_of_other_sites_and_without_a_valid_token_are_rejected(
    server: Server, ann: Account, operator: Browser, subtests: pytest.Subtests
) -> None:
    operator.get("/admin/entry?name=" + POSTGRES.name)
    assert operator.csrf
    foreign = {"Origin": "https://evil.example"}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"}
    for path in in_turn(server, POSTS, subtests):
        path = filled(path, {"accounts": ann.id, "keys": server.key_id})
        for headers in foreign:
            assert operator.post(path, FIELDS, **headers).status == 403
        for csrf in ("", "wrong"):
            assert operator.post(path, {**FIELDS, "csrf": csrf}).status == 403


def test_the_log_says_which_operator_changed_what(
    server: Server, operator_account: Account, operator: Browser, member: Browser
) -> None:
    operator.get("/admin/entry?name=" + POSTGRES.name)
    token = operator.csrf
    with captured_lines() as lines:
        operator.post("/admin/entry/mark", {"name": POSTGRES.name, "mark": "pinned", "on": "yes\n[-] forged"})
        member.get("/account/keys")
        member.post("/admin/entry/mark", FIELDS)
        operator.post("/admin/entry/mark", FIELDS, Origin="https://evil.example")
    logged = [line for line in lines if "Operator " in line]
    assert len(logged) == 1
    assert f"Operator {operator_account.id}: /admin/entry/mark" in logged[0]
    assert POSTGRES.name in logged[0]
    assert token not in logged[0]
    assert "\n" not in logged[0].strip()


def assert_unchanged(server: Server) -> None:
    (key,) = run_sync(server.keys.list())
    assert (key.limit, key.revoked_at) == (20, None)
    assert all(account.disabled_at is None for account in run_sync(server.accounts.list()))
    assert server.get("/api/open/v1/search?keywords=postgres").json["data"][0]["name"] == "Postgres"


def test_a_former_operator_loses_access_at_once(server: Server, operator_account: Account, operator: Browser) -> None:
    assert operator.get("/admin").status == 200
    run_sync(server.accounts.set_role(operator_account.id, "member"))
    assert operator.get("/admin").status == 404
    assert operator.get("/account/keys").status == 200
    assert "/admin" not in operator.page


def test_only_operators_see_links_to_the_pages(server: Server, member: Browser, operator: Browser) -> None:
    for page in ("/account/keys", "/", "/docs"):
        member.get(page)
        assert '"/admin' not in member.page
    for page in ("/account/keys", "/", "/docs"):
        operator.get(page)
        assert 'href="/admin"' in operator.page


def test_the_sign_in_returns_to_the_page(server: Server, operator_account: Account, browser: Browser) -> None:
    browser.follow(browser.get("/admin"))
    response = browser.post(
        "/account/sign-in", {"email": operator_account.email, "password": PASSWORD, "next": "/admin"}
    )
    assert browser.follow(response).status == 200
    assert "Operator pages" in browser.text
