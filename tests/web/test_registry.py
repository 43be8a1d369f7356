"""The registry API, as editors use it."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest

from directory_server import __version__, sqlite
from directory_server.domain.entries import OFFICIAL, Entry
from directory_server.runtime.run_sync import run_sync
from directory_server.tables import StoredRegistryTokens
from directory_server.web.registry import RegistryHandlers

from .conftest import MAIL, POSTGRES, Server, entry
from .routes import handlers

SERVERS = "/v0.1/servers"
OWN = "io.github.mcp-directory-server/entry"
ONE = "/v0.1/servers/io.github.example%2Fmail/versions/latest"


def names(page: Any) -> list[str]:
    return [each["server"]["name"] for each in page["servers"]]


def pages_of(server: Server, path: str, query: str, more: str = "") -> Iterator[Any]:
    """Yield each page of `path`: the first requested with `query`, the others with the cursor and `more`."""
    page = server.get(f"{path}?{query}", key=None).json
    while True:
        assert page["metadata"]["count"] == len(page["servers"])
        yield page
        cursor = page["metadata"].get("nextCursor")
        if cursor is None:
            return
        # As VS Code sends it: not escaped.
        assert quote(cursor, safe="") == cursor
        page = server.get(f"{path}?cursor={cursor}{more}", key=None).json


def read_all(server: Server, query: str, more: str = "") -> list[list[str]]:
    """Return the names on each page."""
    return [names(page) for page in pages_of(server, SERVERS, query, more)]


def test_an_entry_has_the_shape_of_the_official_api(server: Server, shared_data: Any) -> None:
    example = json.loads((shared_data / "openapi_example_response.json").read_text())
    page = server.get(SERVERS, key=None).json
    assert page.keys() == example.keys()
    assert page["metadata"] == {"count": 2}
    (mail, _) = page["servers"]
    shape = example["servers"][0]
    assert mail.keys() == shape.keys()
    assert mail["_meta"][OFFICIAL].keys() == shape["_meta"][OFFICIAL].keys()
    assert mail["server"].keys() <= shape["server"].keys()


def test_the_list_is_also_below_the_url_without_a_version(server: Server) -> None:
    page = server.get("/servers?limit=1", key=None).json
    assert page == server.get(f"{SERVERS}?limit=1", key=None).json
    assert page["metadata"]["nextCursor"]


def test_a_document_is_served_unchanged(server: Server) -> None:
    document = {
        "name": "a/b",
        "version": "2",
        "description": "Odd.",
        "zeta": [1, {"x": None}],
        "_meta": {"io.modelcontextprotocol.registry/publisher-provided": {"tags": ["ü"]}},
    }
    official = {"status": "deprecated", "publishedAt": "2025-01-02T03:04:05Z", "isLatest": True, "more": 1}
    server.publish(Entry(document, {OFFICIAL: official, "dataset/provenance": {"x": 1}}))
    response = server.get("/v0.1/servers/a%2Fb/versions/2", key=None).json
    assert response["server"] == document
    assert list(response["server"]) == list(document)
    assert response["_meta"]["dataset/provenance"] == {"x": 1}
    known = response["_meta"][OFFICIAL]
    assert (known["status"], known["publishedAt"], known["isLatest"], known["more"]) == (
        "deprecated",
        "2025-01-02T03:04:05Z",
        True,
        1,
    )
    assert response["_meta"][OWN]["curated"] is True
    assert response["_meta"][OWN]["official"] is False


WRONG = [None, 5, "x", True, [5], ["x"], {"url": 5}, [{"headers": 5, "url": [], "packageArguments": "x"}]]


@pytest.mark.parametrize("wrong", WRONG, ids=json.dumps)
def test_fields_of_the_wrong_type_are_not_served(server: Server, wrong: Any) -> None:
    lists, objects, texts = ("packages", "remotes", "icons"), ("repository",), ("title", "websiteUrl")
    document = {"name": "a/b", "version": "1", "description": "x"} | dict.fromkeys((*lists, *objects, *texts), wrong)
    server.publish(Entry(document, {OFFICIAL: dict.fromkeys(("status", "publishedAt", "more"), wrong)}))
    found = server.get("/v0.1/servers/a%2Fb/versions/latest", key=None).json
    fields = {name: value for name, value in found["server"].items() if value is not None}
    assert all(isinstance(each, dict) for name in lists for each in fields.get(name, []))
    assert all(isinstance(each.get("headers", []), list) for each in fields.get("remotes", []))
    assert all(isinstance(each.get("packageArguments", []), list) for each in fields.get("packages", []))
    assert isinstance(fields.get("repository", {}).get("url", ""), str)
    assert all(isinstance(fields.get(name, ""), str) for name in texts)
    known = found["_meta"][OFFICIAL]
    assert known["more"] == wrong
    assert isinstance(known["status"], str)
    assert isinstance(known["publishedAt"], str)


def test_every_name_is_listed_once_while_entries_are_published(server: Server) -> None:
    server.publish(*(entry(f"m/{number:02}") for number in range(40)))
    seen: list[str] = []
    for page in pages_of(server, SERVERS, "limit=7", "&limit=7"):
        seen += names(page)
        server.publish(entry(f"a/{len(seen)}"), entry(f"m/{len(seen):02}", "Again."))
    assert len(seen) == len(set(seen))
    assert {f"m/{number:02}" for number in range(40)} <= set(seen)


def test_pages_of_large_entries_are_limited_in_bytes(server: Server) -> None:
    large = [f"x/{number}" for number in range(8)]
    server.publish(*(entry(name, f"Large. {'x' * 300_000}") for name in large))
    pages = read_all(server, "limit=50", "&limit=50")
    assert [name for page in pages for name in page] == [MAIL.name, POSTGRES.name, *large]
    assert max(map(len, pages)) <= 6
    found = read_all(server, "limit=50&search=large", "&limit=50")
    assert sorted(name for page in found for name in page) == large
    assert max(map(len, found)) <= 4


def version(name: str, number: str, *, latest: bool = False, status: str = "active") -> Entry:
    return Entry(
        {"name": name, "version": number, "description": "Sings."}, {OFFICIAL: {"isLatest": latest, "status": status}}
    )


def test_versions(server: Server) -> None:
    server.publish(version("a/b", "1.0.0"), version("a/b", "1.1.0", latest=True))
    response = server.get("/v0/servers/a%2Fb/versions", key=None).json
    assert [each["server"]["version"] for each in response["servers"]] == ["1.1.0", "1.0.0"]
    assert [each["_meta"][OFFICIAL]["isLatest"] for each in response["servers"]] == [True, False]
    assert server.get("/v0.1/servers/a%2Fb/versions/1.0.0", key=None).json["server"]["version"] == "1.0.0"
    assert names(server.get(f"{SERVERS}?limit=2", key=None).json) == ["a/b", "a/b"]
    assert read_all(server, "limit=2&version=latest")[0] == ["a/b", "io.github.example/mail"]
    assert read_all(server, "version=1.0.0&search=sings") == [["a/b"]]


def test_updated_since(server: Server) -> None:
    assert read_all(server, "updated_since=2020-01-01T00:00:00Z") == [["io.github.example/mail", POSTGRES.name]]
    assert read_all(server, "updated_since=2100-01-01T00:00:00%2B00:00") == [[]]
    assert read_all(server, "search=mail&updated_since=2100-01-01T00:00:00Z") == [[]]


@pytest.mark.parametrize("search", ["", "&search=sings"])
def test_updated_since_includes_deleted_versions(server: Server, search: str) -> None:
    server.publish(version("a/b", "0.9.9"), version("a/b", "1.1.0", latest=True))
    server.publish(version("a/b", "0.9.9", status="deleted"))
    query = f"{SERVERS}?updated_since=2020-01-01T00:00:00Z&version=0.9.9{search}"
    for more in ("", "&include_deleted=true", "&include_deleted="):
        (deleted,) = server.get(query + more, key=None).json["servers"]
        assert deleted["_meta"][OFFICIAL]["status"] == "deleted"
    response = server.get(f"{query}&include_deleted=false", key=None)
    assert (response.status, response.json["detail"]) == (
        400,
        "include_deleted: must not be false beside updated_since, which includes deleted versions.",
    )


def test_pages_after_the_first_include_deleted_versions_too(server: Server) -> None:
    server.publish(*(version("a/b", f"1.0.{number}", status="deleted") for number in range(3)))
    first = server.get(f"{SERVERS}?updated_since=2020-01-01T00:00:00Z&limit=2", key=None).json
    second = server.get(f"{SERVERS}?cursor={first['metadata']['nextCursor']}", key=None).json
    assert names(first) == ["a/b"] * 2
    assert names(second)[0] == "a/b"


def test_look_ups_have_no_updated_since(server: Server) -> None:
    server.publish(version("a/b", "1.0.0", status="deleted"), version("a/b", "1.1.0", latest=True))
    query = "updated_since=2020-01-01T00:00:00Z"
    assert server.get(f"/v0.1/servers/a%2Fb/versions/1.0.0?{query}", key=None).status == 404
    assert server.get(f"/v0.1/servers/a%2Fb/versions?{query}", key=None).json["metadata"] == {"count": 1}


@pytest.mark.parametrize(("text", "count"), [*((text, 1) for text in ("1", "t", "TRUE", "True")), ("F", 0), ("0", 0)])
def test_booleans_are_those_of_the_official_registry(server: Server, text: str, count: int) -> None:
    server.publish(version("a/b", "1.0.0", latest=True, status="deleted"))
    page = server.get(f"{SERVERS}?include_deleted={text}", key=None).json
    assert names(page).count("a/b") == count
    status = server.get(f"/v0.1/servers/a%2Fb/versions/1.0.0?include_deleted={text}", key=None).status
    assert status == (200 if count else 404)


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("limit=0", "limit: must be a whole number from 1 to 100, not 0."),
        ("limit=101", "limit: must be a whole number from 1 to 100, not 101."),
        ("limit=ten", "limit: must be a whole number from 1 to 100."),
        ("cursor=x", "cursor: is invalid; use metadata.nextCursor of the previous page."),
        ("updated_since=now", "updated_since: must be an RFC 3339 date and time such as 2026-01-31T00:00:00Z."),
        ("updated_since=", "updated_since: must be an RFC 3339 date and time such as 2026-01-31T00:00:00Z."),
        ("include_deleted=maybe", "include_deleted: must be true or false."),
        ("search=" + "x" * 257, "search: must have at most 256 characters, not 257."),
    ],
)
def test_invalid_parameters(server: Server, query: str, message: str) -> None:
    response = server.get(f"{SERVERS}?{query}", key=None)
    assert (response.status, response.json["detail"], response.json["status"]) == (400, message, 400)
    assert response.headers["Content-Type"] == "application/problem+json"


def test_unknown_names_and_versions(server: Server) -> None:
    response = server.get("/v0.1/servers/no%2Fbody/versions", key=None)
    assert (response.status, response.json["detail"]) == (404, "Unknown server 'no/body'.")
    assert server.get("/v0.1/servers/io.github.example%2Fmail/versions/9", key=None).status == 404


def test_an_unchanged_response_is_304(server: Server) -> None:
    first = server.get(ONE, key=None)
    assert first.headers["Cache-Control"] == "public, max-age=60"
    again = server.get(ONE, key=None, headers={"If-None-Match": f'"x", W/{first.headers["ETag"]}'})
    assert (again.status, again.body, again.headers["Content-Length"]) == (304, b"", None)
    assert again.headers["ETag"] == first.headers["ETag"]


def test_a_body_is_compressed_for_clients_that_accept_it(server: Server) -> None:
    server.publish(entry("a/b", "It rains. " * 200))
    plain = server.get(SERVERS, key=None)
    packed = server.get(SERVERS, key=None, headers={"Accept-Encoding": "gzip"})
    assert gzip.decompress(packed.body) == plain.body
    assert (plain.headers["Content-Encoding"], packed.headers["Content-Encoding"]) == (None, "gzip")
    assert plain.headers["Vary"] == packed.headers["Vary"] == "Accept-Encoding"
    assert int(packed.headers["Content-Length"]) == len(packed.body) < len(plain.body)
    # The two bodies have two entity tags; each is known only to a client that can use the body.
    assert packed.headers["ETag"] != plain.headers["ETag"]
    for accepted, tag, status in (
        ("gzip", packed.headers["ETag"], 304),
        ("identity", plain.headers["ETag"], 304),
        ("identity", packed.headers["ETag"], 200),
        ("gzip", plain.headers["ETag"], 200),
    ):
        again = server.get(SERVERS, key=None, headers={"Accept-Encoding": accepted, "If-None-Match": str(tag)})
        assert again.status == status
        assert again.headers["Vary"] == "Accept-Encoding"
        assert (again.headers["ETag"] == tag) is (status == 304)
        if status == 304:
            assert (again.body, again.headers["Content-Encoding"]) == (b"", None)


def test_a_large_body_is_compressed_in_a_thread(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    server.publish(entry("x/large", "x" * 300_000), entry("x/small", "x" * 3_000))
    offloaded: list[object] = []

    async def offload(function: Any, *arguments: Any) -> Any:
        offloaded.append(function)
        return function(*arguments)

    monkeypatch.setattr("directory_server.web.registry.LARGE", 200_000)
    object.__setattr__(handlers(server, RegistryHandlers), "_offload", offload)
    for name, count in (("x%2Flarge", 1), ("x%2Fsmall", 0)):
        offloaded.clear()
        response = server.get(f"{SERVERS}/{name}/versions", key=None, headers={"Accept-Encoding": "gzip"})
        assert json.loads(gzip.decompress(response.body))["metadata"]["count"] == 1
        assert len(offloaded) == count


@pytest.mark.parametrize("prefix", ["/v0", "/v0.1"])
def test_status_of_the_registry(server: Server, prefix: str) -> None:
    assert server.get(f"{prefix}/ping", key=None).json == {"pong": True}
    assert server.get(f"{prefix}/version", key=None).json["version"] == __version__
    health = server.get(f"{prefix}/health", key=None)
    if prefix == "/v0.1":
        assert health.json == {"status": "ok"}
    else:
        # mcp-publisher prints the body of an error.
        assert (health.status, health.json["detail"].partition(":")[0]) == (404, "Log in with")


@pytest.mark.parametrize("method", ["PUT", "DELETE"])
def test_optional_methods_are_not_implemented(server: Server, method: str) -> None:
    response = server.request(method, ONE, key=None)
    assert (response.status, response.json["title"]) == (501, "not_implemented")
    assert server.request(method, SERVERS, key=None).status == 405


def test_a_slash_at_the_end_of_a_path_is_redirected(server: Server) -> None:
    response = server.get(f"{SERVERS}/?limit=1&search=a/?b", key=None)
    assert (response.status, response.headers["Location"]) == (308, f"{SERVERS}?limit=1&search=a/?b")
    assert server.get(f"{ONE}/", key=None).headers["Location"] == ONE


def test_cors_allows_every_origin(server: Server) -> None:
    origin = {"Origin": "vscode-file://vscode-app"}
    assert server.get(ONE, key=None, headers=origin).headers["Access-Control-Allow-Origin"] == "*"
    rejected = server.get("/v0.1/servers/no%2Fbody/versions", key=None, headers=origin)
    assert (rejected.status, rejected.headers["Access-Control-Allow-Origin"]) == (404, "*")
    preflight = server.request(
        "OPTIONS", ONE, key=None, headers={**origin, "Access-Control-Request-Headers": "Authorization"}
    )
    assert (preflight.status, preflight.body) == (204, b"")
    assert preflight.headers["Access-Control-Allow-Methods"] == "GET, OPTIONS"
    assert preflight.headers["Access-Control-Allow-Headers"] == "*, Authorization"
    assert server.get("/api/open/v1/search?keywords=x", headers=origin).status == 403


def test_requests_are_limited_per_address(server: Server) -> None:
    for _ in range(120):
        assert server.get(ONE, key=None).status == 200
    rejected = server.get(ONE, key=None)
    assert (rejected.status, rejected.headers["Retry-After"], rejected.json["title"]) == (429, "1", "throttled")


@pytest.mark.registry("off", False)
@pytest.mark.parametrize("path", [SERVERS, ONE, f"/r/{'x' * 32}{SERVERS}", "/v0.1/ping", "/v0/health", "/v0/version"])
def test_mode_off_has_no_paths(server: Server, path: str) -> None:
    assert server.get(path).status == 404


@pytest.mark.registry("key", False)
def test_mode_key(server: Server) -> None:
    assert server.get(SERVERS, key=None).status == 401
    response = server.get(SERVERS)
    assert (response.status, response.headers["X-RateLimit-Remaining"]) == (200, "20")
    assert response.headers["Cache-Control"] == "private, max-age=60"


@pytest.mark.registry("secret-path", False)
def test_mode_secret_path(server: Server) -> None:
    database = sqlite.Database(server.folder, "directory")
    tokens = StoredRegistryTokens(sqlite.SqliteTables(database), server.clock.seconds)
    token, secret = run_sync(tokens.create("editors"))
    assert server.get(f"/r/{secret}{SERVERS}", key=None).status == 200
    assert server.get(f"/r/{secret}{ONE}", key=None).json["server"] == MAIL.server
    assert server.get(SERVERS).status == 404
    assert server.get(f"/r/{secret[:-1]}{SERVERS}").status == 404
    run_sync(tokens.revoke(token.id))
    assert server.get(f"/r/{secret}{SERVERS}", key=None).status == 404
    # Unknown tokens are limited per address, like unknown keys.
    responses = [server.get(f"/r/{number}{SERVERS}", key=None).status for number in range(40)]
    assert responses[-1] == 429
    database.close()


@pytest.mark.registry("public", True)
def test_curated_entries_only(server: Server) -> None:
    run_sync(server.directory.publish("other", [entry("x/y", "Another Postgres.")]))
    assert names(server.get(SERVERS, key=None).json) == ["io.github.example/mail", POSTGRES.name]
    assert read_all(server, "search=postgres") == [[POSTGRES.name]]
    assert server.get("/v0.1/servers/x%2Fy/versions", key=None).status == 404
    assert server.get("/v0.1/servers/x%2Fy/versions/latest", key=None).status == 404


def test_versions_are_paged(server: Server) -> None:
    path = "/v0.1/servers/a%2Fb/versions"
    server.publish(*(Entry({"name": "a/b", "version": f"1.0.{number}", "description": "x"}) for number in range(7)))
    pages = [*pages_of(server, path, "limit=3", "&limit=3")]
    seen = [[each["server"]["version"] for each in page["servers"]] for page in pages]
    assert [len(each) for each in seen] == [3, 3, 1]
    assert [each for page in seen for each in page] == [f"1.0.{number}" for number in reversed(range(7))]
    assert server.get(path, key=None).json["metadata"] == {"count": 7}
    cursor = pages[0]["metadata"]["nextCursor"]
    other = server.get(f"/v0.1/servers/io.github.example%2Fmail/versions?cursor={cursor}", key=None)
    assert (other.status, "another list" in other.json["detail"]) == (400, True)


def test_pages_of_large_versions_are_limited_in_bytes(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("directory_server.web.registry.PAGE_BYTES", 5_000)
    text = "x" * 2_000
    server.publish(*(Entry({"name": "a/b", "version": f"1.0.{number}", "description": text}) for number in range(7)))
    pages = [*pages_of(server, "/v0.1/servers/a%2Fb/versions", "")]
    assert all(page["metadata"]["count"] <= 3 for page in pages)
    seen = [each["server"]["version"] for page in pages for each in page["servers"]]
    assert seen == [f"1.0.{number}" for number in reversed(range(7))]


@pytest.mark.parametrize("tail", ["version=1.0.0", "version=2.0.0", "updated_since=2020-01-01T00:00:00Z&version=1.0.0"])
@pytest.mark.parametrize("limit", [2, 3, 100])
def test_a_filtered_search_is_one_search_of_the_index(
    server: Server, monkeypatch: pytest.MonkeyPatch, tail: str, limit: int
) -> None:
    entries = [version(f"a/weather-{number:02}", "2.0.0", latest=True) for number in range(30)]
    server.publish(*entries, *(version(f"a/weather-{number:02}", "1.0.0") for number in range(0, 30, 7)))
    index, searches = server.application.search.index, list[int]()
    search = type(index).search

    def counted(self: Any, query: Any) -> Any:
        searches.append(query.limit)
        return search(self, query)

    monkeypatch.setattr(type(index), "search", counted)
    found: list[str] = []
    for page in pages_of(server, SERVERS, f"search=weather&limit={limit}&{tail}", f"&limit={limit}"):
        # The second one finds the position of the next page.
        assert len(searches) <= 2
        assert len(page["servers"]) <= limit
        found += names(page)
        searches.clear()
    assert sorted(found) == [f"a/weather-{number:02}" for number in range(0, 30, 1 if "2.0.0" in tail else 7)]


@pytest.mark.registry("public", True)
def test_a_search_of_curated_entries_finds_those_behind_others(server: Server) -> None:
    run_sync(server.directory.publish("upstream", [version(f"a/weather-{number}", "1.0.0") for number in range(30)]))
    server.publish(entry("z/curated", "Forecasts, and the weather among others."))
    assert names(server.get(f"{SERVERS}?search=weather&limit=4", key=None).json) == ["z/curated"]
