"""What a query does not want: "stock prices but no crypto", "like Notion but", "alternative to Notion"."""

from __future__ import annotations

import pytest

from directory_server.search import ImpactIndex
from directory_server.search.query.parsing import parse
from directory_server.search.query.wishes import find_wishes
from directory_server.search.text import stem
from tests.contract.index import make_entry

from . import OTHERS, index_of, search_names


@pytest.fixture(scope="module")
def index() -> ImpactIndex:
    return index_of(
        make_entry("org.example/stocks", "Stock prices"),
        make_entry("org.example/coins", "Crypto charts, crypto news and the prices of crypto and stock"),
        make_entry("org.example/pages", "Notes and pages of a team"),
        *(make_entry(f"org.example/notion-{n}", "Notes and pages of a team in Notion") for n in range(4)),
        *(make_entry(f"org.example/outlook-{n}", "Calendar events in Outlook") for n in range(4)),
        *(make_entry(f"org.example/office-{n}", f"Working hours of office {n}") for n in range(4)),
        *OTHERS,
    )


CASES = {
    # Keywords: the words that are searched, and what is avoided.
    "stock prices but no crypto": ("stock prices", "crypto"),
    "stock prices, but not the crypto prices": ("stock prices prices", "crypto"),
    "prices except crypto or stock": ("prices", "crypto stock"),
    "prices other than crypto in charts": ("prices in charts", "crypto"),
    "Aktienkurse aber kein Crypto": ("aktienkurse", "crypto"),
    "aandelenkoersen maar geen crypto": ("aandelenkoersen", "crypto"),
    "ціни, крім crypto": ("ціни", "crypto"),
    "цены, но не crypto": ("цены", "crypto"),
    "prezzi ma non crypto": ("prezzi", "crypto"),
    "prix sauf crypto": ("prix", "crypto"),
    "calendar, not Outlook": ("calendar", "outlook"),
    "calendar without Outlook": ("calendar", "outlook"),
    "calendar instead of outlook": ("calendar", "outlook"),
    "my calendar is not working": ("my calendar is not working", ""),
    "prices without charts": ("prices without charts", ""),
    "not outlook": ("not outlook", ""),
    "not only outlook but calendar": ("not only outlook but calendar", ""),
    "crypto but no": ("crypto but no", ""),
    "except": ("except", ""),
    "crypto prices": ("crypto prices", ""),
    "something like Notion but self-hosted": ("something notion but self hosted", "notion"),
    "an alternative to Notion": ("an notion", "notion"),
    "Notion alternative for a team": ("notion for a team", "notion"),
    "similar to the Notion pages": ("notion pages", "notion"),
    "Alternative zu Notion": ("notion", "notion"),
    "I would like pages but no crypto": ("i would like pages", "crypto"),
    "alternative medicine": ("alternative medicine", ""),
}


@pytest.mark.parametrize(("query", "expected"), CASES.items())
def test_words_tell_what_is_not_wanted(index: ImpactIndex, query: str, expected: tuple[str, str]) -> None:
    words = [part for parts, _ in parse(query).runs for part in parts]
    wishes = find_wishes(words, index.snapshot.view(None))
    assert (" ".join(wishes.words), list(wishes.avoided)) == (expected[0], [*map(stem, expected[1].split())])


def test_what_is_not_wanted_comes_later_and_is_found(index: ImpactIndex) -> None:
    assert search_names(index, "stock prices crypto")[0] == "org.example/coins"
    assert search_names(index, "stock prices but no crypto") == ["org.example/stocks", "org.example/coins"]


@pytest.mark.parametrize(
    "query", ["notes like Notion but for a team", "alternative to Notion", "Notion alternative for pages"]
)
def test_another_entry_of_the_topic_comes_before_the_product(index: ImpactIndex, query: str) -> None:
    assert search_names(index, query)[0] == (
        "org.example/notion-0" if query == "alternative to Notion" else "org.example/pages"
    )
    assert "org.example/notion-0" in search_names(index, query)


def test_a_name_with_such_words_is_found() -> None:
    named = make_entry("org.example/all-but-no-crypto", "Prices")
    assert search_names(index_of(named, *OTHERS), "all but no crypto")[0] == named.name
