"""Ranking: the relative weights of the kinds of evidence."""

from __future__ import annotations

import numpy as np
import pytest

from directory_server.domain.entries import Entry
from directory_server.domain.search import Query
from directory_server.runtime.run_sync import run_sync
from directory_server.search import ImpactIndex
from directory_server.search.index.fields import impacts
from directory_server.search.query.parsing import parse
from directory_server.search.query.plan import build_plan
from directory_server.search.ranking import scoring
from directory_server.search.ranking.scoring import rank
from tests.contract.index import make_entry

from . import OTHERS, index_of, plan_of, search_names

SKY = make_entry("org.example/sky", "Weather and forecasts for any place")

FIRST = {
    # A concept outweighs the words of the query that ask for it,
    "do I need an umbrella tomorrow": [
        SKY,
        make_entry("org.example/shop", "Sells an umbrella"),
        make_entry("org.example/plan", "What to do tomorrow"),
    ],
    # and is not worth the whole query.
    "umbrella factory": [
        make_entry("org.example/plant", "Runs a factory, with machines and people and many more things to see and do"),
        SKY,
        *(make_entry(f"org.example/shop-{n}", "Umbrella and something else") for n in range(20)),
    ],
    # An entry with all parts of the query comes before one that repeats a part.
    "spreadsheet invoice": [
        make_entry("org.example/both", "Something else that writes an invoice from a spreadsheet"),
        make_entry("io.github.a/invoice", "Invoice, invoice and invoice", title="Invoice"),
        *(make_entry(f"org.example/sheet-{n}", "Reads a spreadsheet") for n in range(5)),
    ],
    # A concept's term of two words needs both.
    "is my website up or down": [
        make_entry("org.example/status", "Shows a status page"),
        make_entry("org.example/page", "Lays out a page"),
    ],
    # Of entries with the words, the one with a description about little else is first.
    "invoices suppliers": [
        make_entry("org.example/b", "Invoices of suppliers"),
        make_entry("org.example/a", "Invoices, suppliers, payroll, warehouses, recruiting, taxes, marketing campaigns"),
    ],
}


@pytest.mark.parametrize(("query", "entries"), FIRST.items())
def test_the_first_of_the_entries_is_the_first_hit(query: str, entries: list[Entry]) -> None:
    index = index_of(*reversed(entries), *OTHERS)
    assert search_names(index, query)[0] == entries[0].name


def test_a_word_in_an_expression_of_a_concept_is_not_corrected() -> None:
    diagrams = (make_entry(f"org.example/{n}", "Umbrello draws diagrams") for n in range(5))
    index = index_of(make_entry("org.example/sky", "Weather and forecasts"), *diagrams)
    assert search_names(index, "umbrella tomorrow")[0] == "org.example/sky"
    assert "org.example/0" in search_names(index, "umbrellx tomorrow")


def test_entries_of_a_rare_word_are_worth_more_than_those_of_its_concept() -> None:
    files = (make_entry(f"org.example/{n}", "File conversion: converts PDF documents") for n in range(40))
    others = (make_entry(f"org.example/other-{n}", "Something else") for n in range(100))
    index = index_of(make_entry("org.example/dots", "Braille"), *files, *others)
    assert search_names(index, "점자 변환")[0] == search_names(index, "convert to braille")[0] == "org.example/dots"


def scores(index: ImpactIndex, keywords: str, *, focuses: bool) -> dict[str, float]:
    """Return the scores of the hits for `keywords`, by name."""
    view = index.snapshot.view(None)
    ranking = rank(build_plan(parse(keywords), view), view, focuses=focuses)
    return dict(zip(map(view.name, ranking.docs.tolist()), ranking.scores.tolist(), strict=True))


@pytest.mark.parametrize(
    ("keywords", "descriptions", "gains"),
    [
        ("suppliers invoices", ["Invoices of suppliers"], [True]),
        ("suppliers invoices", ["Bookkeeping"], [False]),
        ("invoices", ["Invoices of suppliers"], [False]),
        ("supplier invoices self-hosted", ["Invoices of suppliers"], [False]),
        # Of many equal entries, only the better ones.
        (
            "suppliers invoices",
            ["Suppliers, invoices: suppliers", *["Invoices of suppliers " + "x" * 9] * 8],
            [True] * 9,
        ),
    ],
)
def test_a_description_that_is_about_the_query_gains(keywords: str, descriptions: list[str], gains: list[bool]) -> None:
    entries = (make_entry(f"org.example/suppliers-{n}", text) for n, text in enumerate(descriptions))
    index = index_of(*entries, *OTHERS)
    with_focus, without = (scores(index, keywords, focuses=focuses) for focuses in (True, False))
    names = (f"org.example/suppliers-{n}" for n in range(len(descriptions)))
    assert [with_focus[name] > without[name] for name in names if name in without] == gains[: len(without)]


def test_only_an_entry_that_lacks_a_word_of_the_query_loses(monkeypatch: pytest.MonkeyPatch) -> None:
    both = make_entry("org.example/both", "Quartz, a spreadsheet and a calendar")
    index = index_of(both, make_entry("org.example/sheet", "Reads a spreadsheet and a calendar"), *OTHERS)
    found = scores(index, "spreadsheet calendar quartz", focuses=False)
    monkeypatch.setattr(scoring, "LOSS", 0.0)
    without = scores(index, "spreadsheet calendar quartz", focuses=False)
    assert found["org.example/sheet"] < 0.9 * without["org.example/sheet"]
    assert found["org.example/both"] == without["org.example/both"]


def test_an_impact_is_bounded_and_grows_with_the_frequency() -> None:
    found = impacts(np.array([0.1, 1.2, 3, 1e4], np.float32), np.array([0, 0, 0, 1], np.float32)).tolist()
    assert found == sorted(found)
    assert found[1] == pytest.approx(0.5)
    assert found[-1] < 1.36


def test_documents_behind_the_candidates_come_after_them_by_their_sums(monkeypatch: pytest.MonkeyPatch) -> None:
    """The order of the candidates does not depend on how many entries match."""
    monkeypatch.setattr(scoring, "CANDIDATES", 8)
    entries = [make_entry(f"org.example/{n:02}", "mail " * (n % 7 + 1) + "and more " * (n % 5)) for n in range(40)]
    index = index_of(*entries, *(make_entry(f"x/{n}", "Else") for n in range(9)))
    page = run_sync(index.search(Query("mail", 100)))
    assert len(page.hits) == 40
    view = index.snapshot.view(None)
    ranking = rank(plan_of(index, "mail"), view)
    ranking.complete()
    assert ranking.scores.tolist() == sorted(ranking.scores.tolist(), reverse=True)
    assert len(set(ranking.docs.tolist())) == 40
