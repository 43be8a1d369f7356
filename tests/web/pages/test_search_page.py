"""The search page: filters beside a list, orders, cards, suggestions, and hostile values in all of them."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

import pytest

from directory_server.domain.entries import OFFICIAL, PUBLISHER, Entry
from directory_server.domain.filters import FACETS, filters_of, with_filter, without_filter, wrong_filter
from directory_server.web.pages._cards import avatar, date, owner, search_url, short_number, tags

from ..conftest import Response, Server, entry
from .conftest import Document, GetPage

HOSTILE = "\"'><script>alert(1)</script><img src=x onerror=alert(1)>{{7*7}}"


def listed(number: int, *, stars: int | None = None, updated: str = "", **more: Any) -> Entry:
    meta = {"categories": ["Data & Co", "zebras"], "tags": ["blue"], "stars": stars, **more.pop("publisher", {})}
    server = {
        "name": f"io.github.acme/zebra-{number}",
        "version": f"1.{number}.0",
        "description": "Counts zebras.",
        "packages": [{"registryType": "npm", "identifier": "zebra", "transport": {"type": "stdio"}}],
        "_meta": {PUBLISHER: meta},
        **more,
    }
    return Entry(server, {OFFICIAL: {"updatedAt": updated}} if updated else {})


class Facets(HTMLParser):
    """The chips beside a list, by their filter: URL, count and whether it is selected."""

    def __init__(self, response: Response) -> None:
        super().__init__()
        self.found: dict[str, tuple[str, int, bool]] = {}
        self._filter, self._href, self._selected = "", "", False
        self.feed(response.body.decode())

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        given = dict(attrs)
        if "data-filter" in given:
            self._filter, self._href = given["data-filter"], given["href"]
            self._selected = "aria-current" in given

    def handle_data(self, data: str) -> None:
        number = data.replace(",", "")
        if self._filter and number.isdecimal():
            self.found[self._filter] = (self._href, int(number), self._selected)
            self._filter = ""


def names(response: Response) -> list[str]:
    """Return the numbers of the entries in a list, in order."""
    text = Document(response).text
    return [line.rpartition("-")[2] for line in text.split("\n") if line.startswith("io.github.acme/zebra-")]


def query_of(url: str) -> dict[str, list[str]]:
    return parse_qs(urlsplit(url).query)


def test_chips_narrow_a_list_down_and_back(get_page: GetPage, server: Server) -> None:
    server.publish(listed(1), listed(2, packages=[]), entry("a/zebra", "zebras too"))
    first = get_page("/?q=zebra")
    assert "3 results for “zebra”" in Document(first).text
    href, count, selected = Facets(first).found["package:npm"]
    assert (count, selected, query_of(href)) == (1, False, {"q": ["zebra package:npm"]})
    narrowed = get_page(href)
    assert names(narrowed) == ["1"]
    back, _, selected = Facets(narrowed).found["package:npm"]
    assert (selected, query_of(back)) == (True, {"q": ["zebra"]})
    assert "package: npm" in Document(narrowed).text
    assert "1 result for “zebra”" in Document(narrowed).text
    assert "1 close match for “zebra”" in Document(get_page(f"{href}&sort=stars")).text
    # Filters have no close matches: an entry has a value or not.
    assert "1 result for “package:npm”" in Document(get_page("/?q=package:npm&sort=stars")).text
    tag, count, _ = Facets(first).found['tag:"Data & Co"']
    assert (count, query_of(tag)) == (2, {"q": ['zebra tag:"Data & Co"']})
    assert sorted(names(get_page(tag))) == ["1", "2"]


def test_a_selected_filter_is_recognised_in_every_spelling(get_page: GetPage, server: Server) -> None:
    server.publish(listed(1))
    for typed in ("tag:data-co", 'TAG:"DATA  CO"', "Package:NPM", 'transport:"stdio"'):
        chips = Facets(get_page(f"/?q={quote(f'zebra {typed}')}")).found
        assert [query_of(href) for href, _, selected in chips.values() if selected] == [{"q": ["zebra"]}], typed


def test_the_start_page_counts_all_entries(get_page: GetPage, server: Server) -> None:
    server.publish(listed(1), listed(2))
    chips = Facets(get_page("/")).found
    assert chips["package:npm"][:2] == (search_url("package:npm"), 2)
    assert chips["tag:zebras"][1] == 2


def test_lists_are_sorted_and_pages_keep_the_order(get_page: GetPage, server: Server) -> None:
    # The server's clock is in January 2027.
    server.publish(*(listed(number, stars=number * 7 % 40, updated="2026-01-01T00:00:00Z") for number in range(25)))
    server.publish(listed(25, updated="2027-01-01T00:00:00Z"), listed(26, updated="2090-01-01T00:00:00Z"))
    expected = [str(number) for number in sorted(range(25), key=lambda number: -(number * 7 % 40))]
    first = get_page("/?q=zebra&sort=stars")
    assert names(first) == expected[:20]
    (following,) = (str(link["href"]) for link in Document(first).all("a") if link.get("rel") == "next")
    assert names(get_page(following))[:5] == expected[20:25]
    assert names(get_page("/?q=zebra&sort=updated"))[0] == "25"
    for each in Document(get_page(following)).all("a"):
        if "relevance" not in str(each["href"]) and "zebra" in query_of(str(each["href"])).get("q", ()):
            assert query_of(str(each["href"])).get("sort") in (["stars"], ["updated"], None)


def test_all_entries_are_listed_without_words(get_page: GetPage, server: Server) -> None:
    server.publish(*(listed(number) for number in range(30)))
    found: list[str] = []
    path = "/?sort=relevance"
    while path:
        response = get_page(path)
        assert response.status == 200
        found += names(response)
        path = next((str(a["href"]) for a in Document(response).all("a") if a.get("rel") == "next"), "")
    assert sorted(map(int, found)) == list(range(30))
    assert "All 32 servers" in Document(get_page("/?sort=stars")).text
    assert "/?sort=relevance" in Document(get_page("/")).links


@pytest.mark.parametrize(
    "path", ["/?keywords=zebra", "/?q=&keywords=zebra", "/?q=zebra&keywords=mail", "/?q=zebra&sort=x"]
)
def test_keywords_is_another_name_of_q(get_page: GetPage, server: Server, path: str) -> None:
    server.publish(listed(1))
    response = get_page(path)
    assert names(response) == ["1"]
    assert Document(response).all("input")[0]["value"] == "zebra"


def test_cards_show_owner_version_stars_and_date_with_links(get_page: GetPage, server: Server) -> None:
    server.publish(listed(1, stars=12_345, updated="2026-02-03T04:05:06Z"))
    page = Document(get_page("/?q=zebra"))
    for expected in ("acme", "1.1.0", "12k", "2026-02-03", "npm", "stdio", "blue", "Runs locally"):
        assert expected in page.text
    expected_links = {"tag:blue", "transport:stdio", "package:npm", "runs:local"}
    assert {search_url(each) for each in expected_links} <= set(page.links)
    assert [each["datetime"] for each in page.all("time")] == ["2026-02-03"]
    for each in expected_links:
        assert names(get_page(search_url(each))) == ["1"]


@pytest.mark.parametrize("label", ["Developer Tools", "developer tools"])
def test_common_categories_are_translated_and_others_are_not(get_page: GetPage, server: Server, label: str) -> None:
    server.publish(listed(1, publisher={"categories": [label, "zebras"]}))
    page = Document(get_page("/?q=zebra", Accept_Language="zh"))
    assert page.text.count("开发者工具") == 2  # beside the list and on the card
    assert label not in page.text
    assert "zebras" in page.text
    assert search_url(with_filter("", "tag", label)) in page.links
    assert label in Document(get_page("/?q=zebra")).text


def test_licences_have_their_usual_names(get_page: GetPage, server: Server) -> None:
    server.publish(listed(1, publisher={"license": "bsd-3-clause"}), listed(2, publisher={"license": "mit"}))
    text = Document(get_page("/?q=zebra")).text
    assert "BSD-3-Clause" in text
    assert "MIT" in text


def test_links_of_chips_are_left_out_where_the_query_would_be_too_long(get_page: GetPage, server: Server) -> None:
    server.publish(listed(1))
    long = "zebra " * 41
    response = get_page(f"/?q={quote(long)}")
    assert names(response) == ["1"]
    assert all(len(query_of(href)["q"][0]) <= 256 for href, *_ in Facets(response).found.values())
    assert "package:npm" not in Facets(response).found


def test_the_field_has_the_focus_at_first_and_after_an_error(get_page: GetPage) -> None:
    def is_focused(path: str) -> bool:
        return "autofocus" in Document(get_page(path)).all("input")[0]

    assert is_focused("/")
    assert is_focused("/?q=runs:nowhere")
    assert not is_focused("/?q=postgres")


def test_suggestions_are_the_values_that_filters_allow(get_page: GetPage) -> None:
    offered = {
        str(each["data-name"]): str(each["data-values"]).split()
        for each in Document(get_page("/")).all("dt")
        if "data-name" in each
    }
    # Checks are off. No list is narrowed down by what must match.
    assert offered.keys() == FACETS.keys() - {"status"} | {"match"}
    for name, values in offered.items():
        for value in values:
            assert wrong_filter(f"{name}:{value}") is None
        assert set(FACETS.get(name, ())) <= set(values)


def test_hostile_values_are_escaped(get_page: GetPage, server: Server) -> None:
    server.publish(
        listed(
            1,
            updated=HOSTILE,
            version=HOSTILE,
            title=HOSTILE,
            packages=[{"registryType": HOSTILE}, {"registryType": ["npm"]}, {"registryType": {"a": 1}}],
            publisher={"categories": [HOSTILE[:40], "fine\u202e", "x&y<z>"], "tags": [HOSTILE, "javascript:alert(1)"]},
        ),
        Entry({"name": f"{HOSTILE[:40]}/zebra-2", "version": "1", "description": "zebra"}),
    )
    for path in (
        "/?q=zebra",
        "/",
        f"/?q=zebra&sort={quote(HOSTILE)}",
        f"/?q={quote(f'zebra tag:{HOSTILE}')}",
        f"/?keywords={quote(HOSTILE)}",
        f"/?q=zebra&cursor={quote(HOSTILE)}",
        "/?q=" + quote('tag:"x&y<z>"'),
    ):
        page = Document(get_page(path))
        assert len(page.all("script")) == 1
        assert len({image["src"] for image in page.all("img")}) == 1
        assert not [name for _, attributes in page.elements for name in attributes if name.startswith("on")]
        assert not [link for link in page.links if not link.startswith(("/", "?", "#"))]
        assert "49" not in page.text
        assert "\u202e" not in page.text


def test_a_cursor_of_another_list_is_an_error(get_page: GetPage, server: Server) -> None:
    server.publish(*(listed(number) for number in range(25)))
    (href,) = (str(a["href"]) for a in Document(get_page("/?q=zebra&sort=stars")).all("a") if a.get("rel") == "next")
    cursor = query_of(href)["cursor"][0]
    for path in (f"/?q=zebra&cursor={cursor}", f"/?cursor={cursor}", "/?cursor=%00", "/?sort=stars&cursor=e30"):
        response = get_page(path)
        assert response.status == 400
        assert "no longer available" in Document(response).text


@pytest.mark.parametrize(
    ("number", "text"),
    [(0, "0"), (999, "999"), (1_000, "1.0k"), (1_260, "1.2k"), (9_999, "9.9k"), (12_345, "12k"), (10_000_000, "10M")],
)
def test_large_numbers_are_short(number: int, text: str) -> None:
    assert short_number(number) == text


@pytest.mark.parametrize(
    ("namespace", "expected"),
    [("io.github.acme", "acme"), ("com.example.shop", "shop.example.com"), ("", ""), ("alone", "alone")],
)
def test_the_owner_is_an_account_or_a_domain(namespace: str, expected: str) -> None:
    assert owner(f"{namespace}/name") == expected


@pytest.mark.parametrize("value", [None, 7, "", "soon", "2026-13", "99999-01-01", HOSTILE, "2026-02-03" * 9])
def test_only_dates_are_shown(value: object) -> None:
    assert date(value) in ("", "2026-02-03")


def titled(title: str) -> Entry:
    """Return the entry of io.github.acme/yak with a title."""
    return Entry({"name": "io.github.acme/yak", "title": title, "version": "1"})


def test_avatars_are_the_same_for_one_owner() -> None:
    (one, hue), (other, same_hue) = avatar(titled("Zebra")), avatar(titled(""))
    assert (one, other) == ("Z", "Y")
    assert hue == same_hue < 8
    assert avatar(titled("🙂 !"))[0] == "?"
    assert avatar(titled("地图"))[0] == "地"


def test_a_filter_is_added_and_removed() -> None:
    keywords = with_filter(with_filter("mail", "tag", "Data Tools"), "runs", "local")
    assert keywords == 'mail tag:"Data Tools" runs:local'
    first, second = filters_of(keywords)
    assert (first.name, first.value) == ("tag", "Data Tools")
    assert without_filter(keywords, first) == "mail runs:local"
    assert without_filter(keywords, second) == 'mail tag:"Data Tools"'
    assert second.has_value("LOCAL")
    assert not second.has_value("remote")


def test_lists_and_pages_show_that_an_entry_is_deprecated_and_why(get_page: GetPage, server: Server) -> None:
    old = listed(1)
    message = f"Use zebra-2 instead. {HOSTILE}"
    status = {"status": "deprecated", "statusMessage": message + "\u202e" + "x" * 2_000}
    server.publish(Entry(old.server, {OFFICIAL: status}), listed(2))
    for path in ("/?q=zebra", f"/servers/{old.mcp_id}"):
        response = get_page(path)
        assert "The publisher has deprecated this server." in Document(response).text
        assert message in Document(response).text
        assert b"<script>alert" not in response.body
        assert b"x" * 600 not in response.body
    assert names(get_page("/?q=zebra")) == ["2", "1"]
    fields = server.get("/api/open/v1/search?keywords=zebra&fields=server_name,status,status_message").json["data"]
    assert [each["status"] for each in fields] == ["active", "deprecated"]
    assert fields[1]["status_message"].startswith("Use zebra-2 instead.")
    assert fields[1].items() <= server.get(f"/api/open/v1/entries/{old.mcp_id}").json.items()


@pytest.mark.parametrize(
    ("title", "published", "expected"),
    [
        ("Zebra Counter", ["zebra", "mcp-server", "MCP", "Archived", "zebra-herds"], ["Archived", "zebra-herds"]),
        ("", ["zebra", "1", "counter"], ["counter"]),
        ("Herds", ["Location", "location", "LOCATION", "海"], ["Location", "海"]),
    ],
)
def test_a_card_leaves_out_tags_that_repeat_its_title_or_another_tag(
    title: str, published: list[str], expected: list[str]
) -> None:
    shown = tags(listed(1, title=title, publisher={"tags": published, "categories": []}))
    assert [label for label, _ in shown] == expected
