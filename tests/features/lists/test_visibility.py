"""Visibility: a reader who may not see an entry gets the responses of a server that does not have it.

Every route of the server is asked. The entry is in the index, the store, the change log, and in what is built of them.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from attrs import define

from directory_server.features.lists.approvers import Approvers
from directory_server.features.lists.groups import Groups
from directory_server.runtime.run_sync import run_sync

from ...web.browsers import Browser, account_of
from ...web.conftest import POSTGRES_ID, parse_response
from ...web.routes import all_routes
from ...web.test_every_route import VALID_REQUESTS, ValidRequest, modern, post, rpc
from .conftest import SECRET, SECRET_ID, Listed, open_listed

RANDOM = re.compile(
    rb'name="csrf" value="[^"]+"|\b[0-9a-f]{12}\b|\d{4}-\d\d-\d\dT[\d:.]+Z|"(?:lastModified|retry_after)":[^,}]+'
    rb"|[0-9a-f]{8}-[0-9a-f]{16}"
)
"""What differs from server to server: tokens of forms, ids of logs and of requests, and times of the database."""

NAME = "io.github.secret%2Fvault"
JSON = {"Content-Type": "application/json"}
EVENTS = {"Accept": "text/event-stream"}


def asked() -> Iterator[tuple[str, ValidRequest]]:
    """Yield the valid requests of every route, and requests that name or find the secret entry."""
    for name, requests in VALID_REQUESTS.items():
        for number, request in enumerate(requests):
            yield f"{name} {number}", request
            secret = ValidRequest(
                request.method,
                request.path.replace(POSTGRES_ID, SECRET_ID)
                .replace("io.github.example%2Fmail", NAME)
                .replace("io.github.example", "io.github.secret")
                .replace("postgres", "zebra"),
                request.headers,
                request.body.replace(POSTGRES_ID.encode(), SECRET_ID.encode()).replace(b"postgres", b"zebra"),
            )
            if secret != request:
                yield f"{name} {number} secret", secret
    for path in (
        "/api/open/v1/search?keywords=zebra&limit=10&fields=mcp_id,packages,tools",
        "/api/open/v1/search?keywords=postgres&sort=updated",
        "/api/open/v1/search?keywords=zebar%20postgres",
        "/api/open/v1/changes?since=0",
        "/api/open/v1/changes?since=0&limit=1",
        "/api/open/v1/changes?since=0&keywords=zebra",
        "/v0.1/servers",
        "/v0.1/servers?search=zebra",
        "/v0.1/servers?version=latest",
        "/v0.1/servers?version=1.0.0",
        "/v0.1/servers?updated_since=2020-01-01T00:00:00Z",
        "/v0.1/claude/marketplace.json?q=zebra",
        "/api/ard/v1/agents",
        "/api/ard/v1/agents/urn%3Aair%3Asecret.github.io%3Avault",
        "/r/blue/v0.1/servers",
        "/r/red/v0.1/servers",
        "/r/red/api/open/v1/search?keywords=zebra",
        "/r/red/api/ard/v1/agents",
        "/r/none/v0.1/servers",
        "/?q=zebra",
        "/?sort=updated",
        "/?q=vault%20zebar",
        "/?q=namespace:io.github.secret",
        "/feed.atom?q=zebra",
        "/sitemap.xml?page=1",
        f"/servers/{POSTGRES_ID}",
    ):
        yield path, ValidRequest("GET", path)
    yield "stream", ValidRequest("GET", "/api/open/v1/changes?since=0", EVENTS)
    yield (
        "ARD all",
        ValidRequest("POST", "/api/ard/v1/explore", JSON, b'{"resultType":{"facets":[{"field":"publisher"}]}}'),
    )
    yield "MCP red", ValidRequest("POST", "/r/red/api/open/mcp", rpc("ping").headers, rpc("ping").body)
    yield "MCP all", post([json.loads(rpc("resources/list").body)])
    yield "MCP one", modern("resources/read", uri=f"directory://entries/{SECRET_ID}")


ASKED = dict(asked())


def answer(listed: Listed, request: ValidRequest, name: str) -> tuple[int, bytes]:
    """Return the status of a response to `ann` or `bob` and its body, or the start of a stream, without RANDOM."""
    key = {"ann": listed.ann, "bob": listed.bob}[name]
    headers = {**request.headers, "Cookie": f"test={name}"}
    connection = listed.server.open(request.method, request.path, key=key, headers=headers, body=request.body)
    raw = connection.received()
    connection.close()
    if b"text/event-stream" in raw.partition(b"\r\n\r\n")[0]:
        return int(raw.split(b" ", 2)[1]), RANDOM.sub(b"*", raw.partition(b"\r\n\r\n")[2])
    response = parse_response(raw, request.method)
    return response.status, RANDOM.sub(b"*", response.body)


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Listed, Listed]]:
    """Yield a server with the secret entry, and one without it."""
    folder = tmp_path_factory.mktemp("visibility")
    with open_listed(folder / "with") as having, open_listed(folder / "without") as lacking:
        for listed in (having, lacking):
            curate(listed, "io.github.example/mail", "pinned")
        # Later changes would have other numbers: readers of lists see the numbers of the whole log.
        having.publish(SECRET)
        curate(having, SECRET.name, "allowed")
        yield having, lacking


def curate(listed: Listed, name: str, mark: Any) -> None:
    run_sync(listed.server.application.storage.curation.mark(name, mark, True))
    listed.server.application.feed.wake()
    listed.update()


@pytest.mark.parametrize("name", ASKED)
def test_no_response_tells_of_an_entry_that_the_reader_may_not_see(servers: tuple[Listed, Listed], name: str) -> None:
    having, lacking = servers
    assert answer(having, ASKED[name], "bob") == answer(lacking, ASKED[name], "bob")


@define
class Profile:
    """Counts events of the interpreter: calls of functions and their returns."""

    calls: int = 0

    def run(self, *_: object) -> None:
        self.calls += 1


def work(listed: Listed, request: ValidRequest) -> int:
    """Return the number of calls of functions for a request of `bob`, when its caches are filled."""
    counts = []
    for _ in range(3):
        profile = Profile()
        sys.setprofile(profile.run)
        answer(listed, request, "bob")
        sys.setprofile(None)
        counts.append(profile.calls)
    return min(counts)


@pytest.mark.parametrize(
    "path",
    [
        f"/api/open/v1/entries/{SECRET_ID}",
        "/api/open/v1/search?keywords=zebra&limit=10&fields=mcp_id,packages,tools",
        f"/v0.1/servers/{NAME}/versions",
        "/v0.1/servers?search=zebra",
        f"/servers/{SECRET_ID}",
        "/?q=zebra",
        "/r/red/v0.1/servers",
    ],
)
def test_a_request_for_an_entry_outside_the_scope_takes_the_same_work(
    servers: tuple[Listed, Listed], path: str
) -> None:
    having, lacking = servers
    assert work(having, ValidRequest("GET", path)) == work(lacking, ValidRequest("GET", path))


def test_the_requests_find_the_entry_for_a_reader_who_may_see_it(servers: tuple[Listed, Listed]) -> None:
    having, lacking = servers
    differing = {
        name.removesuffix(" secret").rpartition(" ")[0] or name
        for name, request in ASKED.items()
        if answer(having, request, "ann") != answer(lacking, request, "ann")
    }
    assert {
        "GET /api/open/v1/search",
        "GET /api/open/v1/entries/{mcp_id}",
        "GET /api/open/v1/changes",
        "GET /api/open/v1/managed-settings/{file}",
        "POST /api/open/mcp: tools/call, resources/read",
        "POST /api/open/mcp: everything else",
        "POST /api/ard/v1/search",
        "POST /api/ard/v1/explore",
        "GET /api/ard/v1/agents",
        "/api/ard/v1/agents/urn%3Aair%3Asecret.github.io%3Avault",
        "GET /api/ard/v1/cards/{mcp_id}",
        "GET /v0.1/servers/*/versions",
        "GET /v0.1/servers/*/versions/{version}",
        "GET /servers/{mcp_id}",
        "GET /servers/{mcp_id}/card",
        "GET /servers/{mcp_id}/report",
        "POST /servers/{mcp_id}/report",
        "GET /publishers/{namespace}",
        "GET /feed.atom",
        "GET /",
        "/v0.1/servers",
        "/v0.1/claude/marketplace.json?q=zebra",
        "/sitemap.xml?page=1",
        "/r/red/v0.1/servers",
        "/r/red/api/open/v1/search?keywords=zebra",
        "stream",
    } - differing == set()


MEMBER = "member@example.org"

MASKED = re.compile(rb"/account/requests/[0-9a-z]{8}")
"""The paths of requests, which are random."""


def member_pages(listed: Listed) -> list[bytes]:
    """Return what a member of the group `blue` gets who asks for the secret entry, and for one that she sees."""
    server, storage = listed.server, listed.server.application.storage
    account = account_of(server, MEMBER)
    run_sync(Groups(storage.tables).add_member("blue", account.id))
    approvers = Approvers(storage.tables, storage)
    for name in ("red", "blue"):
        run_sync(approvers.set(name, [("", "red")]))
    browser = Browser(server)
    browser.sign_in(MEMBER)
    pages = []
    for name, of in ((SECRET.name, "blue"), (SECRET.name, "red"), ("io.github.example/mail", "blue")):
        browser.get("/account/requests")
        pages.append(browser.follow(browser.post("/account/requests", {"entry": name, "list": of, "reason": "Why."})))
    path = re.findall(r"/account/requests/[0-9a-z]{8}", browser.page)[0]
    paths = (path, f"/account/requests?entry={SECRET.name}", "/account/lists", f"/servers/{SECRET_ID}")
    pages += [browser.get(path) for path in (*paths, f"/servers/{POSTGRES_ID}", "/?q=zebra")]
    for action in ("approve", "decline", "question", "withdraw"):
        browser.get("/account/requests")
        pages.append(browser.follow(browser.post(f"{path}/{action}")))
    return [b"%d " % page.status + MASKED.sub(b"", RANDOM.sub(b"*", page.body)) for page in pages]


def test_requests_do_not_tell_of_an_entry_that_the_member_may_not_see(servers: tuple[Listed, Listed]) -> None:
    having, lacking = (member_pages(listed) for listed in servers)
    assert having == lacking
    assert b"Request sent." in having[0]
    assert b"There is no such list" in having[1]
    assert b"The entry is on this list." in having[2]
    assert [b"There is no such list or request." in page for page in having[-4:]] == [True, True, True, False]
    statuses = " ".join(page[:3].decode() for page in having[-10:])
    assert statuses == "200 200 200 404 200 200 200 200 200 200"


def test_every_route_is_asked() -> None:
    rows = {f"{route.method} {route.label}" for route in all_routes() if route.method is not None}
    named = {name.rpartition(" ")[0].removesuffix(" secret").partition(":")[0] for name in ASKED}
    assert {row for row in rows if not any(each.startswith(row) for each in named)} - without_valid_request() == set()


def without_valid_request() -> set[str]:
    """Return the rows that tests/web/test_every_route.py asks by another name."""
    return {f"{route.method} {route.label}" for route in all_routes() if not route.handler}
