"""Kinds of entries in searches: the filter, what a search finds without it, and counts."""

from __future__ import annotations

import pytest

from directory_server.domain.entries import Entry
from directory_server.domain.search import Kinds
from directory_server.search import ImpactIndex
from directory_server.search.percolator import percolate
from tests.contract.index import additions

from ..kinds import AGENT, PLUGIN, SKILL, of_kind
from . import index_of, search

SERVER = Entry({"name": "com.acme/routes", "description": "Plans bicycle routes between cities.", "version": "1.0.0"})
CURSOR = "application/vnd.cursor.cursor-plugin+json"
OTHERS = [of_kind(AGENT), of_kind(SKILL), of_kind(PLUGIN), of_kind(PLUGIN, identifier="urn:air:b.org:a", type=CURSOR)]


def names(index: ImpactIndex, keywords: str, kinds: Kinds = "asked", **fields: object) -> list[str]:
    page = search(index, keywords, 100, kinds=kinds, **fields)
    return sorted(hit.server_name.rpartition("/")[2] for hit in page.hits)


@pytest.mark.parametrize("batch", [1, 100])
def test_a_search_finds_servers_unless_it_asks_for_kinds(batch: int) -> None:
    index = index_of(SERVER, *OTHERS, batch=batch)
    assert names(index, "bicycle routes") == ["routes"]
    assert names(index, "bicycle routes", "all") == ["agent:routes", "routes"]
    assert names(index, "bicycle routes kind:agent") == ["agent:routes"]
    assert names(index, "bicycle routes kind:agent", "servers") == []
    assert names(index, "bicycle routes kind:agent|server") == ["agent:routes", "routes"]
    assert names(index, "bicycle routes kind:any") == ["agent:routes", "routes"]
    assert names(index, "bicycle routes kind:server", "all") == ["routes"]
    assert names(index, "check an invoice", "all") == ["skill:invoice-check"]
    assert names(index, "", browse=True) == ["routes"]
    assert names(index, "kind:skill|agent") == ["agent:routes", "skill:invoice-check"]
    assert names(index, "kind:application/agent-skills+zip") == ["skill:invoice-check"]
    assert names(index, f"kind:{CURSOR}") == ["plugin:a"]
    assert names(index, f"kind:server|{CURSOR}") == ["plugin:a", "routes"]
    assert len(names(index, "kind:any")) == 5
    assert names(index, "kind:server") == ["routes"]


def test_words_and_counts_of_other_kinds_do_not_change_a_search_for_servers() -> None:
    index, alone = index_of(SERVER, *OTHERS), index_of(SERVER)
    for keywords in ("invoice", "bicycle", "routs", "cycl", "reviewer routes"):
        page, expected = search(index, keywords, 10), search(alone, keywords, 10)
        assert [*page.hits] == [*expected.hits]
        assert page.strength == expected.strength
    summary = search(index, "", 10, browse=True).summary
    assert summary is not None
    assert (summary.total, "kind" in summary.facets) == (1, False)


def test_the_kinds_of_matches_are_counted() -> None:
    summary = search(index_of(SERVER, *OTHERS), "", 10, browse=True, kinds="all").summary
    assert summary is not None
    counts = {value.value: value.count for value in summary.facets["kind"]}
    assert counts == {"server": 1, "agent": 1, "skill": 1, "plugin": 2}


def test_an_index_of_servers_has_one_view() -> None:
    index = index_of(SERVER)
    assert index.snapshot.view(None, only_servers=True) is index.snapshot.view(None)
    index = index_of(SERVER, OTHERS[0], batch=1)
    view = index.snapshot.view(None, only_servers=True)
    assert (view.size, index.snapshot.view(None).size) == (1, 2)
    assert view is index.snapshot.view(None, only_servers=True)


def test_a_skill_of_an_agent_is_named_in_its_hit() -> None:
    page = search(index_of(*OTHERS), "plan a route around mountains", 10, kinds="all")
    assert [tool.name for tool in page.hits.tools()[0]] == ["plan_route"]


def test_saved_queries_may_name_kinds() -> None:
    server, agent = additions(SERVER, OTHERS[0])
    queries = ["kind:server", "kind:agent", "kind:skill", "kind:any", "namespace:com.acme"]
    assert percolate(server, queries) == {"kind:server", "kind:any", "namespace:com.acme"}
    assert percolate(agent, queries) == {"kind:agent", "kind:any", "namespace:com.acme"}
