"""Search and entry pages, also with hostile entries."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from directory_server.domain.entries import OFFICIAL, PUBLISHER, Entry, mcp_id_of

from ..conftest import MAIL, POSTGRES_ID, Server, entry
from .conftest import Document, GetPage

LARGEST = 150_000
"""Maximum size of a page in bytes."""

HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>{{7*7}}{count}"
BIDI_CONTROLS = "\u202eevil\u2066\u200f"


def rich(name: str = "io.github.example/rich", **more: Any) -> Entry:
    """Return an entry with all fields that a page shows."""
    publisher = {
        "longDescription": "A longer text.",
        "descriptions": {"zh": "查询数据库。"},
        "tags": ["database", "sql"],
        "categories": ["data"],
        "tools": [{"name": "query", "description": "Run a query."}],
        "stars": 1234,
        "license": "MIT",
    }
    server = {
        "name": name,
        "title": "Rich",
        "description": "Has everything.",
        "version": "1.2.3",
        "websiteUrl": "https://rich.example.org/docs",
        "repository": {"url": "https://github.com/example/rich", "source": "github"},
        "packages": [
            {"registryType": "npm", "identifier": "@example/rich", "version": "1.2.3", "transport": {"type": "stdio"}}
        ],
        "remotes": [{"type": "streamable-http", "url": "https://mcp.example.org/"}],
        "_meta": {PUBLISHER: publisher},
    }
    official = {"status": "active", "publishedAt": "2026-01-02T03:04:05Z", "updatedAt": "2026-02-03T00:00:00Z"}
    return Entry({**server, **more}, {OFFICIAL: official}, is_official=True)


def page_of(get_page: GetPage, published: Entry, **headers: str) -> Document:
    response = get_page(f"/servers/{published.mcp_id}", **headers)
    assert response.status == 200
    assert len(response.body) < LARGEST
    return Document(response)


def test_the_start_page_shows_new_entries_and_the_search_form(get_page: GetPage) -> None:
    page = Document(get_page("/"))
    assert "Find the right MCP server" in page.text
    assert "Browse all 2 servers" in page.text
    assert {"/?sort=relevance", "/?sort=updated"} <= set(page.links)
    # Both are of one publisher.
    assert len({f"/servers/{POSTGRES_ID}", f"/servers/{MAIL.mcp_id}"} & set(page.links)) == 1
    form = page.all("form")[0]
    assert (form["role"], form["action"], form["method"]) == ("search", "/", "get")


def test_results_and_entry_pages_show_facts(get_page: GetPage, server: Server) -> None:
    keyless = entry("io.github.example/keyless", "Keyless and local-first.")
    secret = {"registryType": "npm", "environmentVariables": [{"name": "TOKEN", "isRequired": True}]}
    server.publish(keyless, entry("io.github.example/secret", "Needs one.", packages=[secret]))
    for path in ("/?q=keyless", f"/servers/{keyless.mcp_id}"):
        assert "No key needed" in Document(get_page(path)).text
        assert "Runs locally" in Document(get_page(path)).text
    page = Document(get_page("/?q=secret")).text
    assert "Needs a key" in page
    assert "No key needed" not in page


def test_cards_and_entry_pages_mark_what_the_vendor_publishes_and_what_can_be_installed(
    get_page: GetPage, server: Server
) -> None:
    vendors = rich("com.rich/rich")
    plain = entry("io.github.example/plain", "Rich but without a package.", packages=[])
    server.publish(vendors, plain)
    for language, marks in (("en", ("By the vendor", "Can be installed")), ("zh", ("厂商发布", "可安装"))):
        headers = {"Accept-Language": language}
        page = Document(get_page("/?q=rich+everything+-package", **headers)).text
        assert [mark for mark in marks if mark not in page] == []
        assert marks[0] in Document(get_page("/", **headers)).text
        page = Document(get_page("/?q=without+a+package", **headers)).text
        assert [mark for mark in marks if mark in page] == []
        assert marks[0] in page_of(get_page, vendors, **headers).text
        assert marks[0] not in page_of(get_page, plain, **headers).text


def test_a_card_has_the_long_description_if_the_short_one_is_cut(get_page: GetPage, server: Server) -> None:
    whole = "Reads the plans of trains. " + "Finds connections between two stations, " * 8
    publisher = {"longDescription": whole}
    server.publish(entry("io.github.example/trains", "Reads the plans of…", _meta={PUBLISHER: publisher}))
    page = Document(get_page("/?q=trains")).text
    assert "Reads the plans of…" not in page
    assert "Reads the plans of trains. Finds connections between" in page
    # The style sheet shows two lines of it.
    assert whole.strip() in page


def test_the_next_page_continues_after_the_first(get_page: GetPage, server: Server) -> None:
    server.publish(*(entry(f"io.github.example/many-{number}", "One of many.") for number in range(25)))
    first = Document(get_page("/?q=many"))
    ((_, after),) = [(link["rel"], link["href"]) for link in first.all("a") if link.get("rel") == "next"]
    second = Document(get_page(str(after)))
    found = [{link for link in page.links if link.startswith("/servers/")} for page in (first, second)]
    assert len(found[0]) == 20
    assert {f"/servers/{mcp_id_of(f'io.github.example/many-{number}')}" for number in range(25)} <= found[0] | found[1]
    assert not found[0] & found[1]
    assert [link["href"] for link in second.all("a") if link.get("rel") == "prev"] == ["/?q=many"]
    ranges = [re.findall(r"(\d+)–(\d+) of (\d+)", page.text) for page in (first, second)]
    total = ranges[0][0][2]
    assert ranges == [[("1", "20", total)], [("21", total, total)]]
    assert not [link for link in second.all("a") if link.get("rel") == "next"]


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("/?q=" + "x" * 4_097, "at most 4,096 characters"),
        ("/?q=x+runs:cloud", "The filter runs: cannot be “cloud”. Allowed values: local, remote, unknown."),
    ],
)
def test_invalid_searches_show_an_error(get_page: GetPage, path: str, message: str) -> None:
    response = get_page(path)
    assert response.status == 400
    assert message in Document(response).text


@pytest.mark.parametrize("path", ["/?utm_source=mail", "/?q=postgres&q=mail&x", "/?q=%ff%fe", "/?q=+++", "/?&&&"])
def test_unknown_query_parameters_are_ignored(get_page: GetPage, path: str) -> None:
    assert get_page(path).status == 200


def test_an_entry_page_shows_all_fields(get_page: GetPage, server: Server) -> None:
    server.publish(rich())
    page = page_of(get_page, rich())
    for expected in (
        *("Rich", "io.github.example/rich", "1.2.3", "A longer text.", "MIT", "1,234", "query", "Run a query."),
    ):
        assert expected in page.text
    # A configuration is JSON and names its file.
    for expected in (".vscode/mcp.json", '"command": "npx"'):
        assert expected in page.text
    for expected in ("@example/rich", "https://mcp.example.org/", "2026-01-02", "2026-02-03", "npm", "streamable-http"):
        assert expected in page.text
    assert {"https://rich.example.org/docs", "https://github.com/example/rich", "/?q=database"} <= set(page.links)


def test_the_page_warns_that_packages_run_code(get_page: GetPage, server: Server) -> None:
    endless = [{"type": "positional", "value": "a" * 1_000}] * 3
    packages = [
        {"registryType": "npm", "identifier": name, "packageArguments": arguments}
        for name, arguments in (("short", []), ("long", endless))
    ]
    published = entry("a/b", packages=packages)
    server.publish(published)
    text = page_of(get_page, published).text
    assert "Local servers run on your computer with your rights" in text
    assert "short@latest" in text
    assert "1 more way that cannot be configured here" in text
    assert "long The arguments" in text


@pytest.mark.parametrize(
    ("language", "reason", "warning", "mark"),
    [
        ("en", "not on the list of allowed options", "The container gets access to the folder", "private address"),
        ("zh", "该选项不在允许的选项列表中", "容器可以访问您填写的文件夹", "私有地址"),
    ],
)
def test_the_page_shows_reasons_and_warnings_of_installations(
    get_page: GetPage, server: Server, language: str, reason: str, warning: str, mark: str
) -> None:
    foreign = {"type": "named", "name": "--registry", "value": "https://evil.example"}
    volume = {"type": "named", "name": "-v", "value": "{data}:/data"}
    packages = [
        {"registryType": "npm", "identifier": "steered", "runtimeArguments": [foreign]},
        {"registryType": "oci", "identifier": "a/mounted:1", "runtimeArguments": [volume]},
    ]
    published = entry("a/b", packages=packages, remotes=[{"type": "sse", "url": "https://wiki.corp.internal/sse"}])
    server.publish(published)
    text = page_of(get_page, published, Accept_Language=language).text
    assert reason in text.replace("\n", " ")
    assert "--registry" in text
    assert warning in text
    assert mark in text


def test_descriptions_in_the_page_language_are_preferred(get_page: GetPage, server: Server) -> None:
    server.publish(rich())
    assert "查询数据库。" in page_of(get_page, rich(), Accept_Language="zh").text
    assert "查询数据库。" in Document(get_page("/?q=rich", Accept_Language="zh")).text
    assert "Has everything." in page_of(get_page, rich()).text


@pytest.mark.parametrize("mcp_id", ["7d9a1a47-8c6b-42d7-96dd-0a8aa272d25a", "nothing", "%00", "..%2f..%2fetc"])
def test_unknown_entries_have_no_page(get_page: GetPage, mcp_id: str) -> None:
    response = get_page(f"/servers/{mcp_id}")
    assert response.status in (400, 404)
    assert response.body.startswith(b"<!doctype html>")


def test_hostile_text_is_escaped(get_page: GetPage, server: Server) -> None:
    publisher = {
        "longDescription": HOSTILE,
        "descriptions": {"zh": HOSTILE},
        "tags": [HOSTILE, BIDI_CONTROLS],
        "categories": [HOSTILE],
        "tools": [{"name": HOSTILE, "description": HOSTILE}],
        "license": HOSTILE,
        "stars": 10**18,
    }
    hostile = rich(
        name=f"io.github.example/{HOSTILE}",
        title=HOSTILE + BIDI_CONTROLS,
        description=HOSTILE + " postgres",
        version=HOSTILE,
        websiteUrl="javascript:alert(1)",
        repository={"url": "data:text/html," + HOSTILE, "source": HOSTILE},
        packages=[
            {"registryType": HOSTILE, "identifier": "javascript:alert(1)", "version": HOSTILE, "transport": HOSTILE}
        ],
        remotes=[{"type": HOSTILE, "url": "javascript:alert(1)"}, {"type": "sse", "url": 7}],
        _meta={PUBLISHER: publisher},
    )
    hostile = Entry(hostile.server, {OFFICIAL: {"status": HOSTILE, "publishedAt": HOSTILE, "updatedAt": BIDI_CONTROLS}})
    server.publish(hostile)
    for page in (
        page_of(get_page, hostile),
        page_of(get_page, hostile, Accept_Language="zh"),
        Document(get_page("/?q=alert")),
        Document(get_page("/")),
        Document(get_page("/?q=" + quote(HOSTILE))),
        Document(get_page("/nowhere?" + quote(HOSTILE))),
    ):
        assert len(page.all("script")) == 1
        assert {image["src"] for image in page.all("img")} == {page.all("img")[0]["src"]}
        assert not [name for _, attributes in page.elements for name in attributes if name.startswith("on")]
        assert not [link for link in page.links if not link.startswith(("/", "?", "#", "http://", "https://"))]
        assert not set(page.text) & set(BIDI_CONTROLS) - set("evil")
        assert "49" not in page.text


@pytest.mark.slow
@pytest.mark.parametrize("letter", ["<", "界", "\u202e"])
def test_pages_of_huge_entries_are_bounded(get_page: GetPage, server: Server, letter: str) -> None:
    letters = letter.encode("utf-8", "replace")
    # Each text alone is larger than a page may be, and so is each list.
    long, some = (letters * (2 * LARGEST // len(letters))).decode(), (letters * 300).decode()
    publisher = {
        "longDescription": long,
        "tags": [f"{some}{number}" for number in range(1_000)],
        "tools": [{"name": f"{number}{some}", "description": some} for number in range(1_000)],
        "license": long,
    }
    package = {"registryType": some, "identifier": some, "version": some, "transport": {"type": "stdio"}}
    endless = rich(
        title=long,
        description=f"endless {long}",
        version=some,
        packages=[package] * 500,
        remotes=[{"type": "sse", "url": f"https://example.org/{some}"}] * 500,
        _meta={PUBLISHER: publisher},
    )
    server.publish(
        endless, *(entry(f"io.github.example/endless-{number}", title=long[:10_000]) for number in range(30))
    )
    page_of(get_page, endless)
    for path in ("/", "/?q=endless"):
        assert len(get_page(path).body) < LARGEST


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abc", max_size=3), inner, max_size=3),
    max_leaves=8,
)
FIELDS = ["title", "description", "websiteUrl", "repository", "packages", "remotes", "icons"]
PUBLISHED = ["longDescription", "descriptions", "tags", "categories", "tools", "stars", "license"]


@given(
    st.fixed_dictionaries({}, optional=dict.fromkeys(FIELDS, JSON)),
    st.fixed_dictionaries({}, optional=dict.fromkeys(PUBLISHED, JSON)),
    st.dictionaries(st.sampled_from(["status", "publishedAt", "updatedAt"]), JSON),
)
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_any_entry_has_a_page(
    get_page: GetPage, server: Server, fields: dict[str, Any], publisher: dict[str, Any], official: dict[str, Any]
) -> None:
    document = {"name": "io.github.example/any", "version": "1.0.0", **fields, "_meta": {PUBLISHER: publisher}}
    server.publish(Entry(document, {OFFICIAL: official}))
    # Prevent throttling.
    server.clock.advance(10)
    page = page_of(get_page, Entry(document))
    assert len(page.all("script")) == 1
