"""The search page: filters beside a list, orders, cards, suggestions, and hostile values in all of them."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

import pytest

from directory_server.domain.entries import OFFICIAL, PUBLISHER, Entry
from directory_server.domain.filters import (
    FILTERS,
    KINDS,
    FilterKind,
    filters_of,
    with_filter,
    without_filter,
    wrong_filter,
)
from directory_server.domain.licenses import UNKNOWN
from directory_server.web.pages._cards import (
    TINTS,
    age,
    card_face,
    card_state,
    card_tags,
    owner,
    search_url,
    short_number,
)
from directory_server.web.pages._facets import GROUPS
from directory_server.web.pages._translations import load

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


def names_in(html: str) -> str:
    """Return the registered names that a piece of a page shows, each on a line. Their namespaces may be links."""
    parts = re.findall(r'<p class="id"><bdi>(?:<a href="/publishers/[^"]+">([^<]+)</a>)?([^<]*)', html)
    return "\n".join(map("".join, parts))


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
    assert "npm – Remove filter" in Document(narrowed).text
    assert "1 result for “zebra”" in Document(narrowed).text
    assert "1 close match for “zebra”" in Document(get_page(f"{href}&sort=stars")).text
    # Filters have no close matches: an entry has a value or not.
    assert "1 server\n" in Document(get_page("/?q=package:npm&sort=stars")).text
    category, count, _ = Facets(first).found["category:data"]
    assert (count, query_of(category)) == (2, {"q": ["zebra category:data"]})
    assert sorted(names(get_page(category))) == ["1", "2"]


def test_a_selected_filter_is_recognised_in_every_spelling(get_page: GetPage, server: Server) -> None:
    server.publish(listed(1))
    for typed in ("category:Data", 'CATEGORY:"DATA"', "Package:NPM", 'transport:"stdio"'):
        chips = Facets(get_page(f"/?q={quote(f'zebra {typed}')}")).found
        assert [query_of(href) for href, _, selected in chips.values() if selected] == [{"q": ["zebra"]}], typed


def test_the_start_page_counts_the_entries_of_categories(get_page: GetPage, server: Server) -> None:
    server.publish(listed(1), listed(2))
    page = Document(get_page("/"))
    assert search_url("category:data") in page.links
    assert "Data & analytics 2" in " ".join(page.text.split())


def test_rows_of_the_start_page_have_one_entry_of_each_publisher(get_page: GetPage, server: Server) -> None:
    remote = {"type": "streamable-http", "url": "https://zebra.example.org/"}
    hosted: dict[str, Any] = {"remotes": [remote], "packages": []}
    server.publish(*(listed(number, stars=number, description="No API key needed.", **hosted) for number in range(3)))
    server.publish(*(listed(number, name=f"io.owner-{number}/yak", stars=number) for number in (4, 5)))
    first = get_page("/")
    rows = first.body.decode().split('<section aria-labelledby="row-')[1:]
    # One entry is no row, and a row has none of the rows before.
    assert [row.partition('"')[0] for row in rows] == ["popular"]
    assert names_in(rows[0]).count("io.github.acme/zebra-") == 1
    server.publish(*(listed(number, name=f"io.later-{number}/yak", packages=[]) for number in range(3)))
    first = get_page("/")
    assert names_in(first.body.decode().split('<section aria-labelledby="row-new"')[1]).count("io.later-") == 3
    # The rows are kept until the catalogue changes.
    assert get_page("/").body == first.body
    server.publish(listed(7, name="io.github.other/yak"))
    assert "io.github.other/yak" in Document(get_page("/")).text


def test_rows_of_a_directory_without_stars_are_no_alphabet(get_page: GetPage, server: Server) -> None:
    owners = ("alpha", "beta", "gamma", "delta")
    server.publish(*(listed(number, name=f"io.{owner}/mcp-{number}") for number, owner in enumerate(owners)))
    server.publish(listed(9, name="io.epsilon/demo"), listed(10, name="io.zeta/mcp-test"))
    page = get_page("/").body.decode()
    assert 'aria-labelledby="row-popular"' not in page
    row = page.split('<section aria-labelledby="row-new"')[1]
    assert "io.gamma/mcp-2" in row
    assert "io.epsilon/demo" not in row
    assert "io.zeta/mcp-test" not in row


def test_a_row_begins_with_the_entry_of_which_most_is_known(get_page: GetPage, server: Server) -> None:
    hosted: dict[str, Any] = {"remotes": [{"type": "streamable-http", "url": "https://a.example.org/"}], "packages": []}
    known = {"alpha": ("2026-01-01", None), "beta": ("2026-01-03", None), "gamma": ("2026-01-02", 5)}
    for name, (day, stars) in known.items():
        more = {"name": f"io.{name}/yak", "description": "No API key needed.", **hosted}
        server.publish(listed(1, stars=stars, updated=f"{day}T00:00:00Z", **more))
    row = get_page("/").body.decode().split('<section aria-labelledby="row-hosted"')[1].split("</section>")[0]
    assert re.findall(r"io\.(\w+)/yak", row) == ["gamma", "beta", "alpha"]


def test_a_list_offers_those_that_can_be_installed(get_page: GetPage, server: Server) -> None:
    server.publish(listed(1), listed(2), listed(3, packages=[]))
    link = "Only those that can be installed"
    page = Document(get_page("/?q=zebra"))
    assert link in page.text
    assert search_url("zebra installable:true") in page.links
    assert link not in Document(get_page("/?q=zebra+installable:true")).text


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


@pytest.mark.parametrize(
    "path", ["/?keywords=zebra", "/?q=&keywords=zebra", "/?q=zebra&keywords=mail", "/?q=zebra&sort=x"]
)
def test_keywords_is_another_name_of_q(get_page: GetPage, server: Server, path: str) -> None:
    server.publish(listed(1))
    response = get_page(path)
    assert names(response) == ["1"]
    assert Document(response).all("input")[0]["value"] == "zebra"


def test_a_card_has_one_line_of_facts(get_page: GetPage, server: Server) -> None:
    secret = {"name": "TOKEN", "isRequired": True, "isSecret": True}
    package = {"registryType": "npm", "identifier": "zebra", "version": "1.0.0", "environmentVariables": [secret]}
    server.publish(listed(1, stars=12_345, updated="2026-12-30T04:05:06Z", packages=[package]))
    page = Document(get_page("/?q=zebra"))
    facts = "★ 12k Can be installed npm Needs a key Updated 2 days ago"
    # The server's clock is in January 2027.
    assert facts in re.sub(r"Updated \d+ days", "Updated 2 days", " ".join(page.text.split()))
    assert [each["datetime"] for each in page.all("time")] == ["2026-12-30"]
    assert search_url("tag:blue") in page.links
    assert "Zebra 1" in page.text
    assert page.text.count("io.github.acme/zebra-1") == 1


def test_categories_have_names_in_the_language_of_the_page(get_page: GetPage, server: Server) -> None:
    server.publish(listed(1, publisher={"categories": ["Developer Tools"]}))
    for path in ("/?q=zebra", "/"):
        assert "开发者工具" in Document(get_page(path, Accept_Language="zh")).text
        assert "Developer tools" in Document(get_page(path)).text


def test_a_list_without_results_names_the_filters_that_cause_it(get_page: GetPage, server: Server) -> None:
    server.publish(listed(1), listed(2))
    page = Document(get_page("/?q=zebra+package:npm+language:rust"))
    text = " ".join(page.text.split())
    assert "No results for “zebra”" in text
    assert "Without Rust 2 servers" in text
    assert "Without npm" not in text
    assert search_url("zebra package:npm") in page.links


def test_filters_that_only_together_prevent_results_are_named_together(get_page: GetPage, server: Server) -> None:
    server.publish(listed(1), listed(2))
    page = Document(get_page("/?q=zebra+license:mit+language:rust"))
    assert "Without MIT, Rust 2 servers" in " ".join(page.text.split())
    assert search_url("zebra") in page.links


def test_a_misspelt_filter_is_offered(get_page: GetPage) -> None:
    assert 'Did you mean: <a href="/?q=language%3Arust">' in get_page("/?q=lang:rust").body.decode()
    assert "Did you mean" not in get_page("/?q=language:rust").body.decode()


def test_a_corrected_word_is_named(get_page: GetPage, server: Server) -> None:
    server.publish(listed(1, description="Herds of elephants."))
    page = Document(get_page("/?q=elephnats"))
    assert "Showing results for elephants" in " ".join(page.text.split())
    assert "Showing results for" not in Document(get_page("/?q=elephants")).text


@pytest.mark.parametrize(("number", "first"), [("0", 1), ("x", 1), ("2", 21), ("9" * 30, 1), ("99", None)])
def test_a_page_number_that_is_none_is_the_first(
    get_page: GetPage, server: Server, number: str, first: int | None
) -> None:
    server.publish(*(listed(number) for number in range(25)))
    text = Document(get_page(f"/?q=zebra&page={number}")).text
    assert (f"{first}–" in text) if first else ("no more results" in text)


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
        name: values
        for each in Document(get_page("/")).all("ul")
        if each.get("data-offered")
        for name, values in json.loads(str(each["data-offered"])).items()
    }
    # Checks are off.
    assert offered.keys() == FILTERS.keys() - {"status"}
    for name, values in offered.items():
        for value in values:
            assert wrong_filter(f"{name}:{value}") is None
        assert set(next(kind.counted for kind in KINDS if kind.name == name)) <= set(values)


def test_filters_have_texts_in_every_language() -> None:
    for language, texts in load(()).items():
        names = [f"search.facet_{group}" for group in GROUPS]
        names += [f"search.facet_{kind.name}" for kind in KINDS if not kind.values]
        names += [f"facet.{kind.name}_{value}" for kind in KINDS for value in kind.values if not is_named(kind, value)]
        assert [name for name in names if name not in texts] == [], (
            f"web/pages/texts/{language}.toml: these are missing"
        )


def is_named(kind: FilterKind, value: str) -> bool:
    """Return whether a value of a filter has a name elsewhere, or is one."""
    return value == UNKNOWN or kind.name in ("category", "status", "language", "license", "transport", "flag")


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


@pytest.mark.parametrize(
    ("day", "expected"),
    [
        ("2027-01-10", ("today", 0)),
        ("2027-01-09", ("days", 1)),
        ("2026-12-12", ("days", 29)),
        ("2026-12-11", ("months", 1)),
        ("2025-01-10", ("years", 2)),
        ("2027-01-11", None),
        ("", None),
        ("soon", None),
    ],
)
def test_the_age_of_a_date(day: str, expected: object) -> None:
    assert age(day, 1_799_539_200.0) == expected  # 2027-01-10T00:00:00Z


@pytest.mark.parametrize(
    ("title", "initials"),
    [("Google Maps for work", "GM"), ("MCP server for GitHub", "G"), ("exa", "E"), ("高德 地图", "高")],
)
def test_a_face_has_the_initials_of_the_title_and_the_tint_of_the_publisher(title: str, initials: str) -> None:
    faces = [card_face(Entry({"name": f"io.github.acme/{name}", "version": "1", "title": title})) for name in "ab"]
    others = {card_face(Entry({"name": f"com.{name}/a", "version": "1"}))[1] for name in map(str, range(60))}
    assert faces[0] == faces[1]
    assert faces[0][0] == initials
    assert others == {*range(TINTS)}


def test_an_archived_entry_is_marked(get_page: GetPage, server: Server) -> None:
    archived = listed(1, publisher={"categories": ["Archived"]})
    assert (card_state(archived), card_state(listed(2))) == ("archived", "")
    server.publish(archived)
    assert "Archived" in Document(get_page("/?q=zebra")).text


def test_lists_and_pages_show_that_an_entry_is_deprecated_and_why(get_page: GetPage, server: Server) -> None:
    old = listed(1)
    message = f"Use zebra-2 instead. {HOSTILE}"
    status = {"status": "deprecated", "statusMessage": message + "\u202e" + "x" * 2_000}
    server.publish(Entry(old.server, {OFFICIAL: status}), listed(2))
    for path in ("/?q=zebra", f"/servers/{old.mcp_id}"):
        response = get_page(path)
        assert "eprecated" in Document(response).text
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
        ("Herds", ["Location", "location", "LOCATION", "海", "도구", "c" * 25], ["Location"]),
    ],
)
def test_a_card_leaves_out_tags_that_repeat_others_or_that_readers_cannot_read(
    title: str, published: list[str], expected: list[str]
) -> None:
    entry = listed(1, title=title, publisher={"tags": published, "categories": []})
    assert card_tags(entry, "en") == expected
    assert ("海" in card_tags(entry, "zh")) == ("海" in published)


def json_links(page: Document) -> list[str]:
    return [link for link in page.links if link.startswith("/v0.1/")]


def test_a_list_links_to_its_entries_as_json(get_page: GetPage, server: Server) -> None:
    server.publish(listed(1), listed(2, publisher={"license": "MIT"}))
    [link] = json_links(Document(get_page("/?q=zebra+license:mit")))
    names = [each["server"]["name"] for each in json.loads(server.get(link, key=None).body)["servers"]]
    assert names == ["io.github.acme/zebra-2"]


@pytest.mark.registry("key", False)
def test_a_list_has_no_link_to_json_that_visitors_cannot_read(get_page: GetPage) -> None:
    assert json_links(Document(get_page("/?q=github"))) == []


def test_a_filter_is_added_and_removed() -> None:
    keywords = with_filter(with_filter("mail", "tag", "Data Tools"), "runs", "local")
    assert keywords == 'mail tag:"Data Tools" runs:local'
    first, second = filters_of(keywords)
    assert (first.name, first.value) == ("tag", "Data Tools")
    assert without_filter(keywords, first) == "mail runs:local"
    assert without_filter(keywords, second) == 'mail tag:"Data Tools"'
    assert second.has_value("LOCAL")
    assert not second.has_value("remote")


def test_licences_have_their_usual_names(get_page: GetPage, server: Server) -> None:
    server.publish(listed(1, publisher={"license": "bsd-3-clause"}), listed(2, publisher={"license": "mit"}))
    text = Document(get_page("/?q=zebra")).text
    assert "BSD-3-Clause" in text
    assert "MIT" in text
