"""Checks of entries on cards and entry pages, in both languages."""

from __future__ import annotations

import json

import pytest
from attrs import evolve

from directory_server.domain.checks import LoginKind, PackageStatus, RemoteStatus
from directory_server.domain.entries import OFFICIAL
from directory_server.features.verification.results import FoundTool, PackageCheck

from ...web.browsers import OPERATOR, Browser
from ...web.conftest import Server, entry
from ...web.pages.conftest import Document, GetPage
from .test_apis import CHECK, TOOL, URL, WEATHER, WEATHER_ID, verifying

HOSTILE = "<script>alert(1)</script>\u202e\x1b[31m"


def checked(server: Server, *tools: FoundTool) -> None:
    """Check an entry, whose remote lists `tools`."""
    server.publish(WEATHER)
    server.fakes.remotes.results[URL] = evolve(CHECK, tools=tools)
    server.verify()


@verifying
@pytest.mark.parametrize(
    ("seconds", "age"),
    [
        (0, "Checked just now"),
        (600, "Checked 10 min ago"),
        (7_200, "Checked 2 h ago"),
        (86_400 * 3, "Checked 3 days ago"),
    ],
)
def test_a_card_shows_the_status_its_age_and_the_tools(
    server: Server, get_page: GetPage, seconds: float, age: str
) -> None:
    checked(server, TOOL, FoundTool("other"))
    server.clock.advance(seconds)
    text = " ".join(Document(get_page("/?q=forecasts")).text.split())
    assert f"Answers 2 tools, without hints {age}" in text
    if seconds == 7_200:
        assert b'<time datetime="2027-01-15T08:00:00Z" title="2027-01-15 08:00 UTC">' in get_page("/?q=forecasts").body


@verifying
def test_a_card_says_nothing_of_what_is_unknown(server: Server, get_page: GetPage) -> None:
    server.publish(WEATHER)
    text = " ".join(Document(get_page("/?q=forecasts")).text.split())
    assert "forecasts" in text
    for words in ("Publisher unknown", "Not checked", "Tools unknown", " ago"):
        assert words not in text


@verifying
def test_the_entry_page_shows_checks_tools_and_schemas(server: Server, get_page: GetPage) -> None:
    checked(server, TOOL)
    text = " ".join(Document(get_page(f"/servers/{WEATHER_ID}")).text.split())
    for expected in (
        "Answers 1 tool, without hints Checked just now",
        f"{URL} Works · MCP 2025-11-25 · 0.25 s",
        "weather 1.0.0 Found",
        "Tools listed by the server",
        "get_forecast Returns the forecast of a town.",
        'Input schema { "type": "object" }',
    ):
        assert expected in text


@verifying
def test_pages_show_the_number_of_all_tools_and_a_wrong_transport(server: Server, get_page: GetPage) -> None:
    server.publish(WEATHER)
    tools = tuple(FoundTool(f"get_{number}") for number in range(300))
    check = evolve(CHECK, tools=tools, tool_count=300, other_transport="sse")
    server.fakes.remotes.results[URL] = check
    server.verify()
    text = " ".join(Document(get_page(f"/servers/{WEATHER_ID}")).text.split())
    assert "300 tools, without hints" in text
    assert "260 more tools" in text
    assert f"{URL} Works · Declared with the wrong transport · MCP 2025-11-25" in text
    server.clock.advance(100_000)
    server.fakes.remotes.results[URL] = evolve(check, has_more_tools=True)
    server.verify()
    assert "300+ tools Checked" in " ".join(Document(get_page("/?q=forecasts")).text.split())
    assert server.get("/api/open/v1/search?keywords=get_299").json["count"] == 1


@verifying
def test_an_unchecked_entry_says_that_this_is_not_bad(server: Server, get_page: GetPage) -> None:
    server.publish(WEATHER)
    assert "That says nothing about it." in Document(get_page(f"/servers/{WEATHER_ID}")).text


def test_a_directory_that_does_not_check_shows_no_section(server: Server, get_page: GetPage) -> None:
    server.publish(WEATHER)
    assert "Checks" not in Document(get_page(f"/servers/{WEATHER_ID}")).text


@verifying
def test_the_filter_of_the_status_is_offered_where_entries_are_checked(get_page: GetPage) -> None:
    offered = [str(each["data-offered"]) for each in Document(get_page("/")).all("ul") if "data-offered" in each]
    assert ['"status"' in each for each in offered] == [True]


@verifying
def test_the_pages_are_in_chinese(server: Server, get_page: GetPage) -> None:
    checked(server, TOOL)
    text = Document(get_page(f"/servers/{WEATHER_ID}", accept_language="zh")).text
    assert "可用" in text
    assert "服务器列出的工具" in text


@verifying
def test_every_status_has_a_text(server: Server, get_page: GetPage) -> None:
    for number, status in enumerate(RemoteStatus):
        url = f"https://{number}.example/mcp"
        server.publish(entry(f"io.example/{status}", remotes=[{"type": "sse", "url": url}]))
        login = LoginKind.OAUTH if status is RemoteStatus.NEEDS_LOGIN else None
        server.fakes.remotes.results[url] = evolve(CHECK, url=url, status=status, login=login)
    server.verify()
    for path in [each for each in Document(get_page("/?q=server")).links if each.startswith("/servers/")]:
        assert "Checks" in Document(get_page(path)).text


@pytest.mark.parametrize("server", [{"verify.packages": True}], indirect=True, ids=["packages"])
def test_the_page_and_the_tool_have_each_fact_with_its_source_and_date(server: Server, get_page: GetPage) -> None:
    repository, package = "https://github.com/acme/mail", {"registryType": "npm", "identifier": "acme-mail"}
    published = {OFFICIAL: {"status": "active", "publishedAt": "2026-01-02T03:04:05Z"}}
    mail = entry("com.acme/mail", packages=[{**package, "version": "1.0.0"}], repository={"url": repository})
    server.fakes.packages.results["acme-mail"] = PackageCheck(
        *("npm", "acme-mail", "1.0.0", server.clock.seconds(), PackageStatus.DEPRECATED),
        latest_version="1.1.0",
        released_at=1_790_000_000.0,
        deprecation="Use acme-post.",
        names_server=True,
        provenance=repository,
    )
    server.publish(evolve(mail, meta=published, is_official=True))
    server.verify()
    text = " ".join(Document(get_page(f"/servers/{mail.mcp_id}")).text.split())
    for line in (
        "com.acme official registry, 2026-01-02",
        "acme-mail 1.0.0 npm, 2027-01-15",
        f"{repository} npm, 2027-01-15",
        "Use acme-post. npm, 2027-01-15",
        "acme-mail 1.1.0 npm, 2026-09-21",
    ):
        assert line in text
    detail = server.get(f"/api/open/v1/entries/{mail.mcp_id}").json
    assert [(fact["mark"], fact["source"], fact["date"][:10]) for fact in detail["identity"]] == [
        ("namespace_proven", "official registry", "2026-01-02"),
        ("package_names_server", "npm", "2027-01-15"),
        ("provenance", "npm", "2027-01-15"),
        ("package_deprecated", "npm", "2027-01-15"),
        ("released", "npm", "2026-09-21"),
    ]
    assert detail["trust"].startswith("Publisher verified · not maintained · package exists")
    [hit] = server.call("search_mcp", {"keywords": "acme mail retired:true"})["structuredContent"]["data"]
    assert hit["trust"] == "verified, available, not maintained"


@verifying
def test_hostile_texts_of_a_server_are_harmless(server: Server, get_page: GetPage) -> None:
    schema = json.dumps({"description": HOSTILE})
    tools = [FoundTool(f"{HOSTILE}{n}", HOSTILE * 50, schema) for n in range(100)]
    checked(server, *tools)
    page = get_page(f"/servers/{WEATHER_ID}")
    body = page.body.decode()
    assert "<script>alert" not in body
    assert "\u202e" not in body
    assert "\x1b" not in body
    assert "60 more tools" in Document(page).text


@verifying
def test_a_malformed_schema_is_left_out(server: Server, get_page: GetPage) -> None:
    checked(server, FoundTool("one", "", "{"), FoundTool("two", "", '{"a":"' + "x" * 8_000 + '"}'))
    text = Document(get_page(f"/servers/{WEATHER_ID}")).text
    assert "one" in text
    assert text.count("Input schema") == 1


@verifying
def test_the_overview_counts_the_results(server: Server, operator: Browser) -> None:
    operator.get("/admin")
    assert "status:works" not in operator.page
    checked(server, TOOL)
    operator.sign_in(OPERATOR)
    operator.get("/admin")
    assert '<dt><a href="/?q=status:works">Works</a></dt><dd>1</dd>' in operator.page
