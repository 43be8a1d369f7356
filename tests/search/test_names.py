"""Names: entries whose name is the query, begins with it or is nearly it; products, and their vendors."""

from __future__ import annotations

import pytest
from attrs import evolve

from directory_server.domain.entries import PUBLISHER, Entry
from directory_server.search.query import names
from tests.contract.index import make_entry

from . import OTHERS, index_of, search, search_names

NAMES = [
    "com.dyn-host.noon/image-video",
    "io.github.a/gmail-mcp",
    "io.github.b/gmail-mcp-extended-for-teams",
    "io.github.c/os-hub-mcp",
]


@pytest.mark.parametrize(
    ("query", "name"),
    {
        "noon image-video": NAMES[0],
        "gmail-mc": NAMES[1],
        "gmail-": NAMES[1],
        "gmail mcp extended for t": NAMES[2],
        "os-hb-mcp": NAMES[3],
        "oshub-mcp": NAMES[3],
        "IO.GitHub.C/OS-Hub-MCP": NAMES[3],
        "c/os-hub-mcp": NAMES[3],
    }.items(),
)
def test_whole_names_match(query: str, name: str) -> None:
    index = index_of(*(make_entry(name, "Mail and more") for name in NAMES))
    assert search_names(index, query)[0] == name


def test_a_name_comes_before_a_title_that_is_the_same() -> None:
    index = index_of(
        make_entry("io.github.a/kaggle-mcp-server", "Downloads data sets", title="kaggle"),
        make_entry("io.github.b/kaggle", "Downloads data sets", title="Kaggle Integration"),
    )
    assert search_names(index, "kaggle")[0] == "Kaggle Integration"


def test_a_query_that_is_a_name_is_not_expanded() -> None:
    named = [make_entry(f"io.github.a{n}/umbrella-{n}", "Something", title=f"Umbrella {n}") for n in range(9)]
    index = index_of(*named, make_entry("org.example/sky", "Weather forecast"), *OTHERS)
    assert search_names(index, "umbrella for tomorrow")[-1] == "org.example/sky"
    assert search_names(index, "umbrella")[-1] == "org.example/sky"
    assert "org.example/sky" not in search_names(index, "umbrella 3")
    assert search(index, "umbrella 3").match == "strong"


@pytest.mark.parametrize("name", ["misspelt", "abc", "a1", "a" * 39])
def test_a_misspelt_name_is_found_if_it_has_3_to_38_letters(name: str) -> None:
    index = index_of(make_entry(f"org.example/{name}", "Mail"), *OTHERS)
    assert search_names(index, name[:-1] + "z ") == ([f"org.example/{name}"] if name in {"misspelt", "abc"} else [])


@pytest.mark.parametrize(
    ("query", "by_vendor", "by_other"),
    [
        ("github", "io.github.github/github-mcp-server", "io.github.a/github"),
        ("notion", "io.github.makenotion/notion-mcp-server", "io.github.a/notion"),
        ("notion-mcp-server", "io.github.makenotion/notion-mcp-server", "io.github.a/notion-mcp-server"),
        ("stripe", "com.stripe/mcp", "io.github.a/stripe-mcp"),
        ("aws mcp", "io.github.aws/aws-mcp", "io.github.a/aws-mcp"),
        ("monday", "com.monday/monday.com", "io.github.a/monday"),
        # The product beside what to do with it.
        ("stripe: list issues", "com.stripe/mcp", "io.github.a/stripe"),
        ("notion: search pages", "io.github.makenotion/notion-mcp-server", "io.github.a/notion"),
        ("list the issues of a github repository", "io.github.github/github-mcp-server", "io.github.a/github"),
    ],
)
def test_the_vendor_of_a_product_comes_first(
    query: str, by_vendor: str, by_other: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As in a catalogue of some hundred entries.
    monkeypatch.setattr(names, "MIN_PRODUCT", 1.0)
    brief = "Lists issues, creates refunds, searches pages: GitHub, Stripe, Notion"
    index = index_of(make_entry(by_other, brief), make_entry(by_vendor, f"{brief} and more"), *OTHERS)
    assert search_names(index, query)[:2] == [by_vendor, by_other]


@pytest.mark.parametrize(
    "name", ["io.github.slack-mcp/Slack-mcp", "io.github.slackmcp/mcp-slack", "io.github.slack-mcp/mcp"]
)
def test_an_account_named_after_a_product_and_mcp_is_not_its_vendor(name: str) -> None:
    copies = [make_entry(f"io.github.user-{number}/slack-mcp", "Messages") for number in range(5)]
    known = make_entry("io.github.known/slack-mcp-server", "Messages", _meta={PUBLISHER: {"stars": 2_000}})
    index = index_of(make_entry(name, "Messages"), *copies, known)
    assert search_names(index, "slack")[0] == known.name


def test_the_owner_of_another_product_does_not_come_first() -> None:
    index = index_of(
        make_entry("io.github.stripe/weather", "Weather"), make_entry("io.github.a/stripe", "Payments by Stripe")
    )
    assert search_names(index, "stripe")[0] == "io.github.a/stripe"


def slack(name: str, stars: int = 0) -> Entry:
    return make_entry(name, "Messages and channels", _meta={PUBLISHER: {"stars": stars}})


def namesakes(count: int) -> list[Entry]:
    return [slack(f"io.github.clone{number}/slack") for number in range(count)]


@pytest.mark.parametrize("query", ["slack", "slack mcp", "Slack MCP server"])
@pytest.mark.parametrize("known", ["io.github.a/mcp-slack", "io.github.a/slack-mcp-server", "io.github.a/slack_mcp"])
def test_the_best_known_entry_of_a_product_comes_first(known: str, query: str) -> None:
    assert search_names(index_of(*OTHERS, *namesakes(4), slack(known, stars=2_000)), query)[0] == known


def test_a_query_with_punctuation_is_the_name_of_an_entry() -> None:
    known = slack("io.github.a/mcp-slack", stars=2_000)
    index = index_of(*OTHERS, *namesakes(5), known, slack("io.github.b/slack-mcp"))
    assert search_names(index, "slack-mcp")[0] == "io.github.b/slack-mcp"


def test_a_spelling_of_one_entry_does_not_outweigh_the_prior() -> None:
    others = [slack(f"io.github.clone{number}/mcp-slack", stars=100) for number in range(5)]
    index = index_of(*OTHERS, *others, *namesakes(1))
    assert search_names(index, "slack")[:5] == [other.name for other in others]
    assert search_names(index, "clone0/slack")[0] == "io.github.clone0/slack"


def test_a_name_of_few_entries_is_no_product() -> None:
    index = index_of(*OTHERS, *namesakes(3), slack("io.github.a/mcp-slack", stars=2_000))
    assert search_names(index, "slack")[-1] == "io.github.a/mcp-slack"


@pytest.mark.parametrize(("name", "brief"), [("Slack/dev", "Docs of Slack"), ("slack/slack-kit", "Messages")])
def test_entries_of_the_account_named_like_the_product_come_first(name: str, brief: str) -> None:
    vendors = make_entry(f"io.github.{name}", brief)
    others = slack("io.github.a/mcp-slack", stars=2_000), make_entry("io.github.slack/chess", "Plays games")
    index = index_of(*OTHERS, *namesakes(5), vendors, *others)
    assert search_names(index, "slack")[:2] == [vendors.name, others[0].name]


def test_a_placeholder_is_first_for_its_full_name_only() -> None:
    index = index_of(
        evolve(make_entry("org.template/send-email", "Description of my MCP server"), is_official=True),
        make_entry("org.example/mailer", "Send email with attachments"),
        *OTHERS,
    )
    found = ["org.example/mailer", "org.template/send-email"]
    for query in ("send email", "send-email", "send-email mcp", "Send em"):
        assert search_names(index, query) == found
    for query in ("org.template/send-email", "template send-email"):
        assert search_names(index, query)[0] == "org.template/send-email"
