"""Names of products: entries of one product are equal, however their names are spelt, and the prior orders them."""

from __future__ import annotations

import pytest

from directory_server.domain.entries import PUBLISHER, Entry
from directory_server.search.query.names import NAMESAKES
from tests.contract.index import make_entry

from . import index_of, search_names

OTHERS = [make_entry(f"org.example/{number}", "Something else") for number in range(20)]


def entry_of(name: str, stars: int = 0) -> Entry:
    return make_entry(name, "Messages and channels", _meta={PUBLISHER: {"stars": stars}})


def namesakes(count: int) -> list[Entry]:
    return [entry_of(f"io.github.clone{number}/slack") for number in range(count)]


@pytest.mark.parametrize("query", ["slack", "slack mcp", "Slack MCP server"])
@pytest.mark.parametrize("known", ["io.github.a/mcp-slack", "io.github.a/slack-mcp-server", "io.github.a/slack_mcp"])
def test_best_known_entry_of_a_product_comes_first(known: str, query: str) -> None:
    index = index_of(*OTHERS, *namesakes(NAMESAKES - 1), entry_of(known, stars=2_000))
    assert search_names(index, query)[0] == known


def test_a_query_with_punctuation_is_the_name_of_an_entry() -> None:
    known = entry_of("io.github.a/mcp-slack", stars=2_000)
    index = index_of(*OTHERS, *namesakes(NAMESAKES), known, entry_of("io.github.b/slack-mcp"))
    assert search_names(index, "slack-mcp")[0] == "io.github.b/slack-mcp"


def test_a_spelling_of_one_entry_does_not_outweigh_the_prior() -> None:
    others = [entry_of(f"io.github.clone{number}/mcp-slack", stars=100) for number in range(NAMESAKES)]
    index = index_of(*OTHERS, *others, *namesakes(1))
    assert search_names(index, "slack")[:NAMESAKES] == [other.name for other in others]
    assert search_names(index, "clone0/slack")[0] == "io.github.clone0/slack"


def test_a_name_of_few_entries_is_no_product() -> None:
    index = index_of(*OTHERS, *namesakes(NAMESAKES - 2), entry_of("io.github.a/mcp-slack", stars=2_000))
    assert search_names(index, "slack")[-1] == "io.github.a/mcp-slack"


@pytest.mark.parametrize(("name", "brief"), [("Slack/dev", "Docs of Slack"), ("slack/slack-kit", "Messages")])
def test_entries_of_the_account_named_like_the_product_come_first(name: str, brief: str) -> None:
    vendors = make_entry(f"io.github.{name}", brief)
    others = entry_of("io.github.a/mcp-slack", stars=2_000), make_entry("io.github.slack/chess", "Plays games")
    index = index_of(*OTHERS, *namesakes(NAMESAKES), vendors, *others)
    assert search_names(index, "slack")[:2] == [vendors.name, others[0].name]
