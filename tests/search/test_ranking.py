"""Ranking: the relative weights of the kinds of evidence."""

from __future__ import annotations

import pytest
from attrs import evolve

from bench.engines.explanation import explain
from directory_server.domain.entries import PUBLISHER
from directory_server.domain.search import Query
from directory_server.search.query.parsing import MAX_PHRASES, MAX_TEXT, parse
from tests.contract.index import make_entry

from . import index_of, search_names


def test_concept_outweighs_the_words_of_the_query() -> None:
    index = index_of(
        make_entry("org.example/sky", "Weather and forecasts for any place"),
        make_entry("org.example/shop", "Sells an umbrella"),
        make_entry("org.example/plan", "What to do tomorrow"),
        *(make_entry(f"org.example/{n}", "Something else") for n in range(20)),
    )
    assert search_names(index, "do I need an umbrella tomorrow")[0] == "org.example/sky"


def test_concept_of_a_common_word_is_not_worth_the_whole_query() -> None:
    index = index_of(
        make_entry("org.example/sky", "Weather and forecasts for any place"),
        make_entry("org.example/plant", "Runs a factory, with machines and people and many more things to see and do"),
        *(make_entry(f"org.example/{n}", "Umbrella and something else") for n in range(20)),
    )
    assert search_names(index, "umbrella factory")[0] == "org.example/plant"


def test_entry_with_all_parts_of_the_query_comes_first() -> None:
    index = index_of(
        make_entry("io.github.a/invoice", "Invoice, invoice and invoice", title="Invoice"),
        make_entry("org.example/both", "Something else that writes an invoice from a spreadsheet"),
        *(make_entry(f"org.example/{n}", "Reads a spreadsheet" if n < 5 else "Something else") for n in range(40)),
    )
    lines = explain(index, Query("spreadsheet invoice", 2)).splitlines()
    assert [line.split()[-1] for line in lines if line.startswith("   1")] == ["org.example/both"]
    assert "coverage -" in lines[-1]
    assert search_names(index, "invoice")[0] == "Invoice"


def test_words_of_a_request_are_ignored() -> None:
    index = index_of(
        make_entry("org.example/mail", "Sends mail"),
        make_entry("org.example/someone", "Someone needs something because everything was wanted, s or l"),
        *(make_entry(f"org.example/{n}", "Something else") for n in range(20)),
    )
    for query in ("I need something because someone wanted mail", "show me everything about mail's", "l'mail"):
        assert search_names(index, query) == ["org.example/mail"]
    assert "org.example/someone" in search_names(index, "someone")


def test_word_in_an_expression_of_a_concept_is_not_corrected() -> None:
    index = index_of(
        make_entry("org.example/sky", "Weather and forecasts"),
        *(make_entry(f"org.example/{n}", "Umbrello draws diagrams") for n in range(5)),
    )
    assert search_names(index, "umbrella tomorrow") == ["org.example/sky"]
    assert "org.example/0" in search_names(index, "umbrellx tomorrow")


def test_function_words_are_not_joined_with_their_neighbours() -> None:
    index = index_of(
        make_entry("org.example/x", "Aboutmail does it"), make_entry("org.example/y", "Sends mailbox contents")
    )
    assert search_names(index, "about mail box") == ["org.example/y"]


def test_words_of_one_entry_are_known_in_a_small_catalogue() -> None:
    index = index_of(
        make_entry("org.example/one", "Reads pull requests of a repository"),
        *(make_entry(f"org.example/{n}", "Retouches a photo") for n in range(5)),
    )
    assert search_names(index, "reqests repositroy reding") == ["org.example/one"]


@pytest.mark.usefixtures("large_collection")
def test_query_of_mostly_unknown_words_is_not_corrected() -> None:
    index = index_of(
        make_entry("org.example/maker", "A builder of things"),
        *(make_entry(f"org.example/{n}", "Retouches a photo") for n in range(5)),
    )
    assert "org.example/maker" in search_names(index, "photo bulder")
    assert "org.example/maker" not in search_names(index, "photo bulder wobbling quuxing")


def test_single_misspelt_word_is_not_taken_for_a_foreign_form() -> None:
    index = index_of(
        *(make_entry(f"org.example/builder-{n}", "Builds a building") for n in range(5)),
        *(make_entry(f"org.example/binance-{n}", "Binance") for n in range(10)),
        *(make_entry(f"org.example/{n}", "Factura") for n in range(20)),
        make_entry("org.example/invoices", "Writes an invoice"),
    )
    assert "binance" in search_names(index, "binanse")[0]
    assert "org.example/invoices" in search_names(index, "facturas")


def test_concept_term_of_two_words_needs_both() -> None:
    index = index_of(
        make_entry("org.example/status", "Shows a status page"),
        make_entry("org.example/page", "Lays out a page"),
        *(make_entry(f"org.example/{n}", "Something else") for n in range(20)),
    )
    assert search_names(index, "is my website up or down") == ["org.example/status"]


def test_query_that_is_a_name_is_not_expanded() -> None:
    named = [make_entry(f"io.github.a{n}/umbrella-{n}", "Something", title=f"Umbrella {n}") for n in range(9)]
    index = index_of(
        *named,
        make_entry("org.example/sky", "Weather forecast"),
        *(make_entry(f"org.example/{n}", "Something else") for n in range(20)),
    )
    assert "org.example/sky" not in search_names(index, "umbrella")


NAMES = [
    "com.dyn-host.noon/image-video",
    "io.github.a/gmail-mcp",
    "io.github.b/gmail-mcp-extended-for-teams",
    "io.github.c/os-hub-mcp",
]

NAME_QUERIES = {
    "noon image-video": NAMES[0],
    "gmail-mc": NAMES[1],
    "gmail-": NAMES[1],
    "gmail mcp extended for t": NAMES[2],
    "os-hb-mcp": NAMES[3],
    "oshub-mcp": NAMES[3],
    "oshub mpc": NAMES[3],
}


@pytest.mark.parametrize(("query", "name"), NAME_QUERIES.items())
def test_whole_names_match(query: str, name: str) -> None:
    index = index_of(*(make_entry(each, "Mail and more") for each in NAMES))
    assert search_names(index, query)[0] == name


def test_a_name_comes_before_a_title_that_is_the_same() -> None:
    index = index_of(
        make_entry("io.github.a/kaggle-mcp-server", "Downloads data sets", title="kaggle"),
        make_entry("io.github.b/kaggle", "Downloads data sets", title="Kaggle Integration"),
    )
    assert search_names(index, "kaggle")[0] == "Kaggle Integration"


@pytest.mark.parametrize(
    ("query", "by_vendor", "by_other"),
    [
        ("github", "io.github.github/github-mcp-server", "io.github.a/github"),
        ("notion", "io.github.makenotion/notion-mcp-server", "io.github.a/notion"),
        ("notion-mcp-server", "io.github.makenotion/notion-mcp-server", "io.github.a/notion-mcp-server"),
        ("stripe", "com.stripe/mcp", "io.github.a/stripe-mcp"),
        ("aws mcp", "io.github.aws/aws-mcp", "io.github.a/aws-mcp"),
    ],
)
def test_vendor_of_a_product_comes_first(query: str, by_vendor: str, by_other: str) -> None:
    index = index_of(
        make_entry(by_other, "Does it all"),
        make_entry(by_vendor, "By us"),
        *(make_entry(f"org.example/{n}", "Something else") for n in range(20)),
    )
    assert search_names(index, query)[0] == by_vendor


@pytest.mark.parametrize(
    "name", ["io.github.slack-mcp/Slack-mcp", "io.github.slackmcp/mcp-slack", "io.github.slack-mcp/mcp"]
)
def test_an_account_named_after_a_product_and_mcp_is_not_its_vendor(name: str) -> None:
    copies = [make_entry(f"io.github.user-{number}/slack-mcp", "Messages") for number in range(5)]
    known = make_entry("io.github.known/slack-mcp-server", "Messages", _meta={PUBLISHER: {"stars": 2_000}})
    index = index_of(make_entry(name, "Messages"), *copies, known)
    assert search_names(index, "slack")[0] == known.name


def test_owner_of_another_product_does_not_come_first() -> None:
    index = index_of(
        make_entry("io.github.stripe/weather", "Weather"),
        make_entry("io.github.a/stripe", "Payments by Stripe"),
    )
    assert search_names(index, "stripe")[0] == "io.github.a/stripe"


def test_a_part_of_a_word_matches_when_nothing_else_does() -> None:
    index = index_of(make_entry("org.example/homeserver", "Runs it"), make_entry("org.example/zh", "管理集群"))
    assert search_names(index, "homeserverbox") == ["org.example/homeserver"]
    assert search_names(index, "smallhomeserver") == ["org.example/homeserver"]
    assert search_names(index, "homeserverinacupboard") == []
    assert search_names(index, "群岛") == []
    assert search_names(index, "集市") == ["org.example/zh"]
    assert search_names(index, "parcels") == []
    assert search_names(index, "homeserverbox tag:none") == []


def test_words_far_from_any_known_word_match_nothing() -> None:
    index = index_of(
        make_entry("org.example/qqq", "Runs qqq"),
        make_entry("org.example/xyz", "Shows xyz and zzz"),
        make_entry("org.example/bloat", "Bloating"),
    )
    assert search_names(index, "zzzqqq xxyyzz") == []
    assert search_names(index, "blorptang fizzlewump") == []


def test_feedback_finds_entries_similar_to_the_first_hits() -> None:
    first = [make_entry(f"io.github.a{n}/orchestrate-{n}", f"Orchestration {n} by kubectl") for n in range(12)]
    index = index_of(
        *first,
        make_entry("org.example/kube", "Speaks kubectl"),
        *(make_entry(f"org.example/{n}", "Something else") for n in range(20)),
    )
    names = search_names(index, "orchestration")
    assert "org.example/kube" in names
    assert "org.example/kube" not in names[:12]
    assert "org.example/kube" not in search_names(index, "orchestration transport:stdio")


def test_copies_of_a_description_rank_lower() -> None:
    copies = [make_entry(f"io.github.fork{n}/remote-{n}", "Deploys a remote server with a login") for n in range(9)]
    index = index_of(*copies, make_entry("io.github.other/remote-9", "Deploys something remote with a password"))
    names = search_names(index, "remote")
    assert names.index("io.github.other/remote-9") <= 1


def test_explain_lists_the_parts_of_the_score() -> None:
    index = index_of(
        make_entry("org.example/sky", "Weather and forecasts"),
        *(make_entry(f"org.example/{n}", "Something else") for n in range(20)),
    )
    lines = explain(index, Query("umbrella tomorrow", 5)).splitlines()
    rank, score, name = next(line for line in lines if "org.example/sky" in line).split()
    assert (rank, name) == ("1", "org.example/sky")
    parts = [float(part.rpartition(" ")[2]) for part in lines[-1].strip().split("  ")]
    assert sum(parts) == pytest.approx(float(score), abs=0.01)
    assert lines[-1].strip().startswith("concept weather ")
    assert explain(index, Query("🙂", 5)) == ""


def test_parsed_query_is_bounded() -> None:
    assert len(parse("ﷺ" * 256).text) == MAX_TEXT
    assert len(parse(" ".join(f'"w{n}"' for n in range(50))).phrases) == MAX_PHRASES


def test_placeholder_is_first_for_its_full_name_only() -> None:
    index = index_of(
        evolve(make_entry("org.template/send-email", "Description of my MCP server"), is_official=True),
        make_entry("org.example/mailer", "Send email with attachments"),
        *(make_entry(f"org.example/{n}", "Something else") for n in range(20)),
    )
    found = ["org.example/mailer", "org.template/send-email"]
    for q in ("send email", "send-email", "send-email mcp", "Send em"):
        assert search_names(index, q) == found
    assert search_names(index, "org.template/send-email")[0] == "org.template/send-email"
    assert search_names(index, "template send-email")[0] == "org.template/send-email"


def test_a_known_word_is_not_as_common_as_its_completions() -> None:
    index = index_of(
        *(make_entry(f"org.example/ride-{n}", f"Routes of a bus in city {n} and other things") for n in range(24)),
        *(make_entry(f"org.example/business-{n}", "Business business business") for n in range(300)),
    )
    names = search_names(index, "bus")[:10]
    assert {name.partition("-")[0] for name in names} == {"org.example/ride"}


def test_words_written_as_one_cover_both() -> None:
    index = index_of(
        make_entry("org.example/rise", "Sunrise at any place and time"),
        make_entry("org.example/sun", "Sun, sun and sun"),
        make_entry("org.example/time", "Time of a rise, at any place"),
        *(make_entry(f"org.example/{n}", "Something else, at a place") for n in range(40)),
    )
    assert search_names(index, "sun rise")[0] == "org.example/rise"
    lines = explain(index, Query("sun rise", 1))
    assert "sun or sun rise" in lines


def test_a_word_with_a_capital_weighs_more_in_a_query() -> None:
    index = index_of(
        make_entry("org.example/apple", "Reads what Apple stores and shows it"),
        make_entry("org.example/steps", "Reads steps which it stores and shows"),
        *(make_entry(f"org.example/{n}", "Reads apple") for n in range(9)),
        *(make_entry(f"org.example/s{n}", "Reads steps") for n in range(8)),
        *(make_entry(f"org.example/e{n}", "Something else") for n in range(90)),
    )
    plain, named = (weights(explain(index, Query(query, 1))) for query in ("apple steps now", "steps now Apple"))
    assert named["apple"] == pytest.approx(1.4 * plain["apple"], abs=0.02)
    assert named["steps"] == plain["steps"]


def weights(explanation: str) -> dict[str, float]:
    """Return the weights of the words of a query, from an explanation of its hits."""
    lines = [line.partition(": idf ") for line in explanation.splitlines()]
    return {label: float(rest.partition(";")[0]) for label, found, rest in lines if found}


CAPITALS = {
    "Apple Health steps and heart rate": {"health"},
    "steps of Apple Health and a heart rate": {"apple", "health"},
    "PDF files that are merged": {"pdf"},
    "Find files. Then merge them with GitHub": {"github"},
    "Apple Health Steps": set(),
    "apple health steps": set(),
    "GitHub issues": set(),
    "открыть файлы в Excel": {"excel"},
}


@pytest.mark.parametrize(("query", "capitals"), CAPITALS.items())
def test_words_with_capitals_are_told(query: str, capitals: set[str]) -> None:
    assert parse(query).capitals == capitals
