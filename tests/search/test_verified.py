"""Documents with verifications: filters, prior, login, and the words of tools that remotes listed."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from attrs import evolve

from directory_server.domain.changes import Change
from directory_server.domain.checks import IndexedVerification, PackageTexts, VerifiedStatus
from directory_server.domain.details import detail_of
from directory_server.domain.entries import Entry
from directory_server.domain.notes import LOOKALIKE
from directory_server.domain.tools import OfferedTool
from directory_server.runtime.run_sync import run_sync
from directory_server.search import ImpactIndex, percolate
from directory_server.search.index.checked import (
    MAX_PACKAGE_WEIGHT,
    MAX_PACKAGE_WORDS,
    MAX_README_WEIGHT,
    document_of,
    package_words,
)
from directory_server.search.index.document import MAX_WORDS, Document
from directory_server.serialization import encode_indexed, encode_texts
from tests.contract.index import additions, notes_of, removals

from . import index_of_changes as index_of
from . import search

status = IndexedVerification


def entry(name: str, brief: str = "Forecasts of the weather for any city.", **server: object) -> Entry:
    return Entry({"name": f"io.example/{name}", "version": "1", "description": brief, **server})


def change(entry: Entry, verification: IndexedVerification | None = None, texts: PackageTexts | None = None) -> Change:
    verified = None if verification is None else encode_indexed(verification)
    [added] = additions(entry)
    return evolve(added, notes=notes_of(verified, None if texts is None else encode_texts(texts)))


def document(change: Change) -> Document:
    found = document_of(change)
    assert found is not None
    return found


def names(index: ImpactIndex, keywords: str) -> Sequence[str]:
    return [hit.server_name.partition("/")[2] for hit in search(index, keywords).hits]


def test_the_filter_status_finds_entries_by_their_checks() -> None:
    index = index_of([change(entry("never")), *(change(entry(value), status(value)) for value in VerifiedStatus)])
    for value in VerifiedStatus:
        expected = {value, "never"} if value is VerifiedStatus.UNVERIFIED else {value}
        assert set(names(index, f"status:{value}")) == expected
    assert names(index, "weather status:works") == ["works"]


def test_the_status_is_part_of_the_hit() -> None:
    index = index_of([change(entry("a"), status(VerifiedStatus.WORKS)), change(entry("b"))])
    found = {hit.server_name: hit.verified for hit in search(index, "weather").hits}
    assert found == {"io.example/a": "works", "io.example/b": "unverified"}


def test_equal_entries_are_ordered_by_their_checks() -> None:
    briefs = {name: f"Forecasts of the weather for any city in {name}." for name in ("down", "never", "works")}
    index = index_of(
        [
            change(entry("down", briefs["down"]), status(VerifiedStatus.DOWN)),
            change(entry("never", briefs["never"])),
            change(entry("works", briefs["works"]), status(VerifiedStatus.WORKS)),
        ]
    )
    assert names(index, "weather city") == ["works", "never", "down"]


def test_flagged_entries_are_found_by_the_filter_and_come_last() -> None:
    briefs = {name: f"Forecasts of the weather for any city in {name}." for name in ("clean", "copy")}
    index = index_of(
        [
            evolve(
                change(entry("copy", briefs["copy"])),
                notes=notes_of(encode_indexed(status(VerifiedStatus.WORKS)), flags=[LOOKALIKE]),
            ),
            change(entry("clean", briefs["clean"])),
        ]
    )
    assert names(index, "flag:lookalike") == ["copy"]
    assert names(index, "flag:none") == ["clean"]
    hits = search(index, "weather city").hits
    assert [(hit.server_name, hit.flags) for hit in hits] == [
        ("io.example/clean", ()),
        ("io.example/copy", (LOOKALIKE,)),
    ]
    # Without the flag it is as before.
    run_sync(index.apply([change(entry("copy", briefs["copy"]), status(VerifiedStatus.WORKS))]))
    assert names(index, "weather city") == ["copy", "clean"]


def test_the_publisher_is_verified_by_the_registry_or_by_the_package() -> None:
    official = evolve(entry("listed"), is_official=True)
    index = index_of(
        [
            change(official),
            change(entry("named"), status(VerifiedStatus.AVAILABLE, names_server=True)),
            change(entry("other"), status(VerifiedStatus.AVAILABLE)),
        ]
    )
    assert set(names(index, "publisher:verified")) == {"listed", "named"}
    assert names(index, "publisher:unknown") == ["other"]
    found = {hit.server_name: hit.publisher for hit in search(index, "weather").hits}
    assert found == {"io.example/listed": "verified", "io.example/named": "verified", "io.example/other": "unknown"}


def test_a_namespace_of_many_publishers_proves_none() -> None:
    shared = Entry({"name": "ai.smithery/weather", "version": "1", "description": "Weather."}, {}, is_official=True)
    found = search(index_of([change(shared)]), "weather").hits
    assert [hit.publisher for hit in found] == ["unknown"] == [detail_of(shared).publisher]


def test_checks_do_not_outweigh_relevance() -> None:
    index = index_of(
        [
            change(entry("weather"), status(VerifiedStatus.DOWN)),
            change(entry("mail", "Read mail, and see the weather beside it."), status(VerifiedStatus.WORKS)),
        ]
    )
    assert names(index, "weather") == ["weather", "mail"]


def test_tools_that_a_remote_listed_are_searched() -> None:
    tools = (OfferedTool("create_invoice", description="Issues an invoice to a customer."),)
    index = index_of([change(entry("books", "Bookkeeping."), status(VerifiedStatus.WORKS, tools=tools))])
    for keywords in ("create_invoice", "invoice customer", "bookkeeping"):
        assert names(index, keywords) == ["books"]
    # A later result replaces the words.
    run_sync(index.apply([change(entry("books", "Bookkeeping."), status(VerifiedStatus.WORKS))]))
    assert names(index, "invoice") == []


def test_the_names_of_many_tools_are_searched() -> None:
    tools = tuple(OfferedTool(f"get_{number}", description="Returns a number.") for number in range(299))
    index = index_of(
        [change(entry("books"), status(VerifiedStatus.WORKS, tools=(*tools, OfferedTool("list_quokkas"))))]
    )
    for keywords in ("get_298", "list_quokkas", "quokkas", "weather"):
        assert names(index, keywords) == ["books"]


def test_tools_that_the_publisher_declares_too_count_once() -> None:
    publisher = {"tools": [{"name": "create_invoice", "description": "Issues an invoice."}]}
    declared = entry("books", _meta={"io.modelcontextprotocol.registry/publisher-provided": publisher})
    tools = (OfferedTool("create_invoice", description="Issues an invoice."),)
    plain, checked = (document(change(declared, found)) for found in (None, status(VerifiedStatus.WORKS, tools=tools)))
    assert (plain.terms, plain.weights) == (checked.terms, checked.weights)


def test_the_words_of_hostile_tools_are_bounded() -> None:
    tools = tuple(
        OfferedTool(f"tool_{n}", description=" ".join(f"word{n}x{m}" for m in range(200))) for n in range(100)
    )
    terms = document(change(entry("a"), status(VerifiedStatus.WORKS, tools=tools))).terms
    assert len(terms) == MAX_WORDS
    assert {"weather", "forecast", "citi"} <= set(terms)


@pytest.mark.parametrize(
    ("brief", "auth", "expected"),
    [
        ("Forecasts.", "none", "none"),
        ("Forecasts.", "oauth", "oauth"),
        ("Forecasts, no API key needed.", "key", "key"),
        ("Forecasts. You need an API key.", "none", "key"),
        ("Forecasts.", "", "unknown"),
    ],
)
def test_checks_refine_how_clients_authenticate(brief: str, auth: str, expected: str) -> None:
    index = index_of([change(entry("a", brief), status(VerifiedStatus.NEEDS_LOGIN, auth=auth))])
    for value in ("none", "key", "oauth", "unknown"):
        assert names(index, f"auth:{value}") == (["a"] if value == expected else [])
    [hit] = search(index, "forecasts").hits
    assert hit.auth == expected


def test_saved_searches_match_by_checks() -> None:
    works = change(entry("a"), status(VerifiedStatus.WORKS, tools=(OfferedTool("create_invoice"),)))
    queries = ["weather status:works", "weather status:down", "invoice", "mail"]
    assert percolate(works, queries) == {"weather status:works", "invoice"}
    assert percolate(change(entry("a")), queries) == set()
    assert percolate(removals("id")[0], queries) == set()


def described(texts: PackageTexts, name: str = "package", brief: str = "Data.") -> Change:
    return change(entry(name, brief), status(VerifiedStatus.AVAILABLE), texts=texts)


def test_the_texts_of_a_package_are_searched() -> None:
    texts = PackageTexts("Reads tide tables.", ("harbours",), "Ask for storms.")
    works = described(texts)
    index = index_of([works])
    for keywords in ("tide tables", "harbours", "storms", "tides storms status:available"):
        assert names(index, keywords) == ["package"]
    assert percolate(works, ["storms", "mail"]) == {"storms"}
    # Texts that a later check does not find are not searched.
    run_sync(index.apply([change(entry("package", "Data."), status(VerifiedStatus.AVAILABLE))]))
    assert names(index, "storms") == []


def test_a_short_description_counts_more_than_the_texts_of_a_package() -> None:
    texts = PackageTexts("Weather of any city.", ("weather",), "Weather of any city. " * 40)
    index = index_of(
        [described(texts), change(entry("described", "Weather of any city."), status(VerifiedStatus.FAILING))]
    )
    assert names(index, "weather city") == ["described", "package"]


def test_a_readme_that_repeats_words_gains_no_more_than_one_that_says_them() -> None:
    plain = PackageTexts("Reads tables.", (), "Reads the tide tables of harbours and warns of storms.")
    stuffed = PackageTexts("Reads tables.", (), "tide " * 400)
    weights = [package_words(texts)["tide"] for texts in (plain, stuffed)]
    assert weights == [MAX_README_WEIGHT] * 2
    everything = PackageTexts("tide " * 50, ("tide",) * 20, "tide " * 400)
    assert max(package_words(everything).values()) == MAX_PACKAGE_WEIGHT


def test_a_readme_that_lists_words_is_found_by_few_of_them_and_after_others() -> None:
    honest = described(PackageTexts("", (), "Reads the tide tables of harbours."), "honest")
    stuffed = described(PackageTexts("", (), " ".join(["tide", *(f"w{n}" for n in range(390))])), "stuffed")
    index = index_of([stuffed, honest])
    assert names(index, "tide") == ["honest", "stuffed"]
    found = [n for n in range(390) if names(index, f'"w{n}"') or names(index, f"w{n} tide")[:1] == ["stuffed"]]
    assert len(found) <= MAX_PACKAGE_WORDS
    assert len(document(stuffed).terms) <= MAX_PACKAGE_WORDS + 5


def test_the_own_words_of_an_entry_keep_their_weights() -> None:
    plain = document(change(entry("a")))
    longer = document(change(entry("a"), status(VerifiedStatus.WORKS), texts=PackageTexts("Weather for a city.")))
    assert (longer.terms, longer.weights, longer.flags) == (plain.terms, plain.weights, plain.flags)
