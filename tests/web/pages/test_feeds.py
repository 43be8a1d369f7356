"""Atom feeds, robots.txt, favicon.ico, OpenSearch, and what pages tell search engines."""

from __future__ import annotations

import gzip
import struct
from typing import Any
from urllib.parse import quote
from xml.etree import ElementTree

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from directory_server.domain.entries import OFFICIAL, PUBLISHER, Entry, mcp_id_of

from ..conftest import MAIL, POSTGRES, POSTGRES_ID, Response, Server, entry
from .conftest import Document, GetPage

ATOM = "{http://www.w3.org/2005/Atom}"
OPENSEARCH = "{http://a9.com/-/spec/opensearch/1.1/}"
URL = "https://mcp.example.org"
public_url = pytest.mark.parametrize("server", [{"web.url": f"{URL}/"}], indirect=True)
HOSTILE = "]]></title><entry>\"'&lt;<!ENTITY x><script>alert(1)</script>"


def locations(response: Response) -> list[str]:
    assert response.status == 200
    return [str(each.text) for each in ElementTree.fromstring(response.body).iter() if each.tag.endswith("}loc")]


def feed_of(response: Response) -> ElementTree.Element:
    assert response.status == 200
    assert response.headers["Content-Type"] == "application/atom+xml; charset=utf-8"
    root = ElementTree.fromstring(response.body)
    assert root.tag == f"{ATOM}feed"
    for each in (root, *root.iter(f"{ATOM}entry")):
        assert all(each.findtext(f"{ATOM}{name}") for name in ("id", "title", "updated"))
    return root


def links(element: ElementTree.Element) -> dict[str, str]:
    return {each.attrib["rel"]: each.attrib["href"] for each in element.findall(f"{ATOM}link")}


def titles(root: ElementTree.Element) -> list[str]:
    return [each.findtext(f"{ATOM}title", "") for each in root.iter(f"{ATOM}entry")]


@public_url
def test_the_feed_has_the_newest_entries_with_absolute_links(get_page: GetPage, server: Server) -> None:
    root = feed_of(get_page("/feed.atom"))
    assert set(titles(root)) == {"Postgres", MAIL.name}
    assert links(root) == {"self": f"{URL}/feed.atom", "alternate": f"{URL}/"}
    first = next(each for each in root.iter(f"{ATOM}entry") if each.findtext(f"{ATOM}title") == "Postgres")
    assert first.findtext(f"{ATOM}id") == f"urn:uuid:{POSTGRES_ID}"
    assert first.findtext(f"{ATOM}summary") == POSTGRES.brief
    assert first.findtext(f"{ATOM}author/{ATOM}name") == "example"
    assert links(first) == {"alternate": f"{URL}/servers/{POSTGRES_ID}"}


def test_the_feed_of_a_search_has_the_last_updated_matches_first(get_page: GetPage, server: Server) -> None:
    def dated(name: str, date: str) -> Entry:
        return Entry({"name": name, "version": "1", "description": "zebra"}, {OFFICIAL: {"updatedAt": date}})

    server.publish(dated("a/old", "2024-01-01T00:00:00Z"), dated("a/new", "2026-01-01T00:00:00Z"))
    for path in ("/feed.atom?q=zebra", "/feed.atom?keywords=zebra&sort=stars&x=y"):
        root = feed_of(get_page(path))
        assert titles(root) == ["a/new", "a/old"]
        assert links(root) == {"self": "/feed.atom?q=zebra", "alternate": "/?q=zebra"}
    assert "zebra" in (root.findtext(f"{ATOM}title") or "")
    # Dates are those of this directory: publishers could date an entry ahead of all others.
    assert not [each for each in root.iter(f"{ATOM}updated") if str(each.text) < "2026-02"]


def test_a_feed_without_entries_is_valid(get_page: GetPage) -> None:
    root = feed_of(get_page("/feed.atom?q=zzzzqqqq"))
    assert titles(root) == []


def test_unchanged_feeds_are_not_sent_again(get_page: GetPage, server: Server) -> None:
    first = get_page("/feed.atom")
    assert first.headers["Cache-Control"] == "public, max-age=300"
    etag = first.headers["ETag"] or ""
    for known in (etag, f'"other", W/{etag}', "*"):
        again = get_page("/feed.atom", If_None_Match=known)
        assert (again.status, again.body, again.headers["ETag"]) == (304, b"", etag)
        assert again.headers["Vary"] == "Accept-Language, Cookie"
    server.publish(entry("a/zebra"))
    assert get_page("/feed.atom", If_None_Match=etag).status == 200


@pytest.mark.parametrize("path", ["/feed.atom?q=runs:nowhere", "/feed.atom?q=" + "x" * 4_097])
def test_invalid_searches_have_no_feed(get_page: GetPage, path: str) -> None:
    assert get_page(path).status == 400


@pytest.mark.slow
def test_feeds_are_bounded(get_page: GetPage, server: Server) -> None:
    long = "<&" * 1_000
    tags = [f"{number}{long}" for number in range(10)]
    server.publish(
        *(entry(f"a/zebra-{number}", long, title=long, _meta={PUBLISHER: {"tags": tags}}) for number in range(40))
    )
    for path in ("/feed.atom", "/feed.atom?q=zebra"):
        response = get_page(path)
        assert len(list(feed_of(response).iter(f"{ATOM}entry"))) == 30
        assert len(response.body) < 200_000


@given(st.text(max_size=40), st.text(st.characters(exclude_categories=["Cs"]), max_size=40))
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_feeds_of_any_entry_and_any_search_are_well_formed(
    get_page: GetPage, server: Server, words: str, text: str
) -> None:
    publisher = {"tags": [text, HOSTILE], "categories": [text], "descriptions": {"en": text + HOSTILE}}
    server.publish(entry("a/zebra", text + HOSTILE, title=text + HOSTILE, _meta={PUBLISHER: publisher}))
    # Prevent throttling.
    server.clock.advance(10)
    root = feed_of(get_page("/feed.atom"))
    assert len(list(root.iter(f"{ATOM}entry"))) == 3
    response = get_page("/feed.atom?q=" + quote(words + HOSTILE, errors="replace"))
    assert feed_of(response) is not None
    assert {each.tag.removeprefix(ATOM) for each in root.iter()} <= {
        *("feed", "id", "title", "subtitle", "updated", "link", "icon", "entry", "published", "author", "name"),
        *("summary", "category"),
    }


@pytest.mark.parametrize("words", ["a\r\nX-Evil: 1", "\r\n\r\n<script>", "é\u2028", "a\0b"])
def test_search_words_reach_no_header(get_page: GetPage, words: str) -> None:
    for path in ("/feed.atom?q=", "/?q=", "/?keywords=", "/?sort="):
        response = get_page(path + quote(words))
        assert response.status in (200, 400)
        assert response.headers["X-Evil"] is None
        assert "script" not in str(response.headers).replace("script-src", "")


@pytest.mark.parametrize("server", ["accounts"], indirect=True)
def test_feeds_need_a_sign_in_as_pages_do(get_page: GetPage) -> None:
    response = get_page("/feed.atom?q=mail")
    assert response.status == 303
    assert response.headers["Location"] == "/account/sign-in?next=%2Ffeed.atom%3Fq%3Dmail"
    member = get_page("/feed.atom", Cookie="test=ada")
    assert member.headers["Cache-Control"] == "private, max-age=300"
    assert not Document(get_page("/docs")).feeds()
    assert Document(get_page("/", Cookie="test=ada")).feeds() == ["/feed.atom"]
    assert "Disallow: /\n" in get_page("/robots.txt").body.decode()
    assert "/servers/" not in get_page("/robots.txt").body.decode()


def test_feeds_count_as_pages(get_page: GetPage, server: Server) -> None:
    assert [get_page("/feed.atom").status for _ in range(61)] == [200] * 60 + [429]
    assert [get_page("/robots.txt").status for _ in range(3)] == [200] * 3
    server.clock.advance(1)
    assert get_page("/").status == 200


@pytest.mark.parametrize("server", ["off"], indirect=True)
def test_servers_without_pages_have_no_feeds(get_page: GetPage) -> None:
    assert get_page("/feed.atom").status == 404
    assert get_page("/opensearch.xml").status == 404
    lines = get_page("/robots.txt").body.decode().splitlines()
    assert (lines[0], lines[-1]) == ("User-agent: *", "Disallow: /")
    assert {line.partition("/")[0] for line in lines[1:-1]} == {"Allow: "}
    assert get_page("/favicon.ico").status == 200


def test_robots_may_read_entries_but_not_searches(get_page: GetPage) -> None:
    from urllib.robotparser import RobotFileParser

    response = get_page("/robots.txt")
    assert response.headers["Content-Type"] == "text/plain; charset=utf-8"
    rules = RobotFileParser()
    # The parser of the standard library does not know the end of a path.
    rules.parse(response.body.decode().replace("/$\n", "/index\n").splitlines())
    assert rules.can_fetch("any", f"/servers/{POSTGRES_ID}")
    assert rules.can_fetch("any", "/docs/browse")
    assert rules.can_fetch("any", "/.well-known/ai-catalog.json")
    for path in ("/?q=mail", "/api/open/v1/search", "/account/keys", "/feed.atom", "/v0.1/servers", "/news"):
        assert not rules.can_fetch("any", path)


@public_url
def test_the_sitemap_lists_the_pages(get_page: GetPage, server: Server) -> None:
    server.publish(*(entry(f"io.example.map/{number}") for number in range(30)))
    robots = get_page("/robots.txt").body.decode()
    assert f"\nSitemap: {URL}/sitemap.xml\nAgentmap: {URL}/.well-known/ard.json\n" in robots
    response = get_page("/sitemap.xml")
    assert response.headers["Content-Type"] == "application/xml; charset=utf-8"
    assert locations(response) == [f"{URL}/sitemap.xml?page=docs", f"{URL}/sitemap.xml?page=1"]
    listed = locations(get_page("/sitemap.xml?page=1"))
    assert {f"{URL}/servers/{mcp_id_of(f'io.example.map/{number}')}" for number in range(30)} < set(listed)
    assert f"{URL}/servers/{POSTGRES_ID}" in listed
    pages = locations(get_page("/sitemap.xml?page=docs"))
    assert {f"{URL}/", f"{URL}/docs", f"{URL}/docs/api/publishing"} <= set(pages)
    for page in pages:
        server.clock.advance(1)  # page requests are limited
        assert get_page(page.removeprefix(URL)).status == 200
    for unknown in ("0", "2", "x", "-1", "", "1e9", "9" * 99):
        assert get_page(f"/sitemap.xml?page={unknown}").status == 404


@public_url
def test_parts_of_the_sitemap_are_bounded_and_have_each_entry_once(
    get_page: GetPage, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("directory_server.features.feeds.web.USUAL_URLS", 10)
    server.publish(*(entry(f"io.example.map/{number}") for number in range(100)))
    parts = [each for each in locations(get_page("/sitemap.xml")) if not each.endswith("docs")]
    listed = [each for part in parts for each in locations(get_page(part.removeprefix(URL)))]
    assert len(parts) > 9
    assert len(listed) == len(set(listed)) > 100
    monkeypatch.setattr("directory_server.features.feeds.web.MAX_URLS", 3)
    assert max(len(locations(get_page(part.removeprefix(URL)))) for part in parts) == 3


@public_url
def test_sitemaps_are_compressed_for_clients_that_accept_it(get_page: GetPage) -> None:
    for path in ("/sitemap.xml", "/sitemap.xml?page=1"):
        plain, sent = get_page(path), get_page(path, Accept_Encoding="gzip")
        assert (plain.headers["Content-Encoding"], sent.headers["Content-Encoding"]) == (None, "gzip")
        assert gzip.decompress(sent.body) == plain.body
        # Members may see other entries than visitors.
        assert plain.headers["Vary"] == sent.headers["Vary"] == "Accept-Encoding, Cookie"
        # Two forms of a body have two tags (RFC 9110, section 8.8.3).
        assert plain.headers["ETag"] != sent.headers["ETag"]
        tag = str(sent.headers["ETag"])
        assert get_page(path, Accept_Encoding="gzip", If_None_Match=tag).status == 304


@pytest.mark.parametrize("server", ["public", {"web.url": URL, "web.search": "accounts"}], indirect=True)
def test_there_is_no_sitemap_without_public_pages_and_url(get_page: GetPage) -> None:
    assert get_page("/sitemap.xml").status == 404
    assert b"Sitemap" not in get_page("/robots.txt").body


@public_url
def test_shared_links_have_a_picture_of_ours(get_page: GetPage) -> None:
    properties = {each.get("property"): each.get("content") for each in Document(get_page("/")).all("meta")}
    address = str(properties["og:image"])
    assert address.startswith(f"{URL}/assets/card.")
    picture = get_page(address.removeprefix(URL))
    assert picture.headers["Content-Type"] == "image/png"
    assert picture.body.startswith(b"\x89PNG")
    size = struct.unpack(">II", picture.body[16:24])
    assert size == tuple(int(str(properties[f"og:image:{each}"])) for each in ("width", "height"))


def test_the_icon_is_one(get_page: GetPage) -> None:
    response = get_page("/favicon.ico")
    assert response.headers["Content-Type"] == "image/x-icon"
    assert response.body.startswith(b"\0\0\1\0")
    assert get_page("/favicon.ico", If_None_Match=str(response.headers["ETag"])).status == 304


@public_url
def test_browsers_can_add_the_search(get_page: GetPage) -> None:
    (link,) = (each["href"] for each in Document(get_page("/")).all("link") if each["rel"] == "search")
    response = get_page(str(link))
    root = ElementTree.fromstring(response.body)
    templates = {each.attrib["type"]: each.attrib["template"] for each in root.iter(f"{OPENSEARCH}Url")}
    assert templates["text/html"] == f"{URL}/?q={{searchTerms}}"
    assert templates["application/atom+xml"] == f"{URL}/feed.atom?q={{searchTerms}}"
    assert len(root.findtext(f"{OPENSEARCH}ShortName") or "") <= 16


def test_without_a_public_url_no_link_has_a_host(get_page: GetPage, server: Server) -> None:
    assert get_page("/opensearch.xml").status == 404
    for path in ("/", "/?q=mail", f"/servers/{POSTGRES_ID}", "/feed.atom", "/docs"):
        # The Host header is allowed, but clients write it.
        response = get_page(path, Host="localhost:6666", X_Forwarded_Host="evil.example")
        assert b"6666" not in response.body
        assert b"evil.example" not in response.body
        assert b"opensearch" not in response.body


def head_of(response: Response) -> dict[str, Any]:
    page = Document(response)
    named = {
        str(each.get("name") or each.get("property")): each["content"] for each in page.all("meta") if "content" in each
    }
    canonical = [each["href"] for each in page.all("link") if each["rel"] == "canonical"]
    return {**named, "canonical": canonical[0] if canonical else None}


@public_url
@pytest.mark.parametrize(
    ("path", "canonical", "indexed"),
    [
        ("/", "/", True),
        ("/?lang=zh", "/", True),
        ("/?q=mail&sort=stars&utm_source=x", "/?q=mail", False),
        ("/?keywords=mail", "/?q=mail", False),
        (f"/servers/{POSTGRES_ID.upper()}", f"/servers/{POSTGRES_ID}", True),
        ("/docs", "/docs", True),
        ("/docs/api", "/docs/api", True),
        ("/docs/operations", "/docs/operations", True),
        ("/account/sign-in", None, False),
        ("/nowhere", None, False),
        ("/?q=runs:nowhere", None, False),
    ],
)
def test_pages_describe_themselves(get_page: GetPage, path: str, canonical: str | None, indexed: bool) -> None:
    head = head_of(get_page(path))
    assert 10 < len(str(head["description"])) < 500
    assert head["og:description"] == head["description"]
    assert head["og:title"]
    assert head["og:site_name"] in ("MCP directory", "MCP 目录")
    assert head["canonical"] == (None if canonical is None else URL + canonical)
    assert head.get("og:url") == head["canonical"]
    assert head.get("robots") == (None if indexed else "noindex")


@pytest.mark.parametrize("server", ["accounts"], indirect=True)
def test_search_engines_do_not_list_pages_of_members(get_page: GetPage) -> None:
    for path in ("/", f"/servers/{POSTGRES_ID}"):
        assert head_of(get_page(path, Cookie="test=ada"))["robots"] == "noindex"
    assert "robots" not in head_of(get_page("/docs"))


def test_descriptions_of_hostile_entries_stay_attributes(get_page: GetPage, server: Server) -> None:
    hostile = '"><script>alert(1)</script>\r\n<meta http-equiv=refresh content=0>'
    published = entry("a/hostile", hostile, title=hostile)
    server.publish(published)
    for path in (f"/servers/{published.mcp_id}", "/?q=" + quote(hostile)):
        page = Document(get_page(path))
        assert len(page.all("script")) == 1
        assert not [each for each in page.all("meta") if "http-equiv" in each]
        assert "alert(1)" in str(head_of(get_page(path))["og:title"])
