"""Words of a search that exclude others: "stock prices but no crypto"."""

from __future__ import annotations

import pytest

from directory_server.search import ImpactIndex
from directory_server.search.query.exclusions import without_exclusions
from directory_server.search.query.parsing import parse
from tests.contract.index import make_entry

from . import index_of, search_names


def directory() -> ImpactIndex:
    return index_of(
        make_entry("org.example/stocks", "Stock prices"),
        make_entry("org.example/coins", "Crypto charts, crypto news and the prices of crypto and stock"),
        *(make_entry(f"org.example/outlook-{n}", "Calendar events in Outlook") for n in range(4)),
        *(make_entry(f"org.example/office-{n}", f"Working hours of office {n}") for n in range(4)),
        *(make_entry(f"org.example/{n}", "Something else") for n in range(40)),
    )


KEPT = {
    "stock prices but no crypto": "stock prices",
    "stock prices, but not the crypto prices": "stock prices prices",
    "prices except crypto or stock": "prices",
    "prices other than crypto in charts": "prices in charts",
    "Aktienkurse aber kein Crypto": "aktienkurse",
    "aandelenkoersen maar geen crypto": "aandelenkoersen",
    "ціни, крім crypto": "ціни",
    "цены, но не crypto": "цены",
    "prezzi ma non crypto": "prezzi",
    "ceny oprócz crypto": "ceny",
    "calendar, not Outlook": "calendar",
    "calendar not for outlook": "calendar",
    "my calendar is not working": "my calendar is not working",
    "not outlook": "not outlook",
    "not only outlook but calendar": "not only outlook but calendar",
    "crypto but no": "crypto but no",
    "except": "except",
    "crypto prices": "crypto prices",
}


@pytest.mark.parametrize(("query", "kept"), KEPT.items())
def test_excluded_words_are_left_out(query: str, kept: str) -> None:
    collection = directory().snapshot.collection
    words = without_exclusions(parse(query).words, collection)
    assert " ".join(part for word in words for part in word.parts) == kept


def test_an_excluded_topic_is_not_searched_for() -> None:
    index = directory()
    assert search_names(index, "stock prices crypto")[0] == "org.example/coins"
    assert search_names(index, "stock prices but no crypto")[0] == "org.example/stocks"


def test_a_name_with_such_words_is_found() -> None:
    index = index_of(
        make_entry("org.example/all-but-no-crypto", "Prices"),
        *(make_entry(f"org.example/{n}", "All of something else") for n in range(20)),
    )
    assert search_names(index, "all but no crypto")[0] == "org.example/all-but-no-crypto"
