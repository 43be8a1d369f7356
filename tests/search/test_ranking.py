"""What is taken for evidence, and what it is worth beside other evidence."""

from __future__ import annotations

import pytest

from directory_server.domain.search import Query
from directory_server.search import ImpactIndex
from directory_server.search.query.parsing import MAX_PHRASES, MAX_TEXT, read
from tests.contract import awaited
from tests.contract.index import added, an_entry, found

from . import inline


async def index_of(*entries: object) -> ImpactIndex:
    index = ImpactIndex(inline)
    await index.apply(added(*entries))  # type: ignore[arg-type]
    return index


@awaited
async def test_a_need_outweighs_the_words_it_is_told_in() -> None:
    index = await index_of(
        an_entry("org.example/sky", "Weather and forecasts for any place"),
        an_entry("org.example/shop", "Sells an umbrella"),
        an_entry("org.example/plan", "What to do tomorrow"),
        *(an_entry(f"org.example/{n}", "Something else") for n in range(20)),
    )
    assert (await found(index, "do I need an umbrella tomorrow"))[0] == "org.example/sky"


@awaited
async def test_a_term_of_two_words_is_found_only_where_both_are() -> None:
    index = await index_of(
        an_entry("org.example/status", "Shows a status page"),
        an_entry("org.example/page", "Lays out a page"),
        *(an_entry(f"org.example/{n}", "Something else") for n in range(20)),
    )
    assert await found(index, "is my website up or down") == ["org.example/status"]


@awaited
async def test_who_names_a_server_does_not_speak_of_a_need() -> None:
    named = [an_entry(f"io.github.a{n}/umbrella-{n}", "Something", title=f"Umbrella {n}") for n in range(9)]
    index = await index_of(
        *named,
        an_entry("org.example/sky", "Weather forecast"),
        *(an_entry(f"org.example/{n}", "Something else") for n in range(20)),
    )
    assert "org.example/sky" not in await found(index, "umbrella")


NAMES = [
    "com.dyn-host.noon/image-video",
    "io.github.a/gmail-mcp",
    "io.github.b/gmail-mcp-extended-for-teams",
    "io.github.c/os-hub-mcp",
]

MEANT = {
    "noon image-video": NAMES[0],
    "gmail-mc": NAMES[1],
    "gmail-": NAMES[1],
    "gmail mcp extended for t": NAMES[2],
    "os-hb-mcp": NAMES[3],
    "oshub-mcp": NAMES[3],
    "oshub mpc": NAMES[3],
}


@pytest.mark.parametrize(("typed", "name"), MEANT.items())
@awaited
async def test_names_are_found_as_wholes(typed: str, name: str) -> None:
    index = await index_of(*(an_entry(each, "Mail and more") for each in NAMES))
    assert (await found(index, typed))[0] == name


@awaited
async def test_a_name_comes_before_a_title_that_is_the_same() -> None:
    index = await index_of(
        an_entry("io.github.a/kaggle-mcp-server", "Data", title="kaggle"),
        an_entry("io.github.b/kaggle", "Data", title="Kaggle Integration"),
    )
    assert (await found(index, "kaggle"))[0] == "Kaggle Integration"


@pytest.mark.parametrize(
    ("typed", "made_by_them", "others"),
    [
        ("github", "io.github.github/github-mcp-server", "io.github.a/github"),
        ("notion", "io.github.makenotion/notion-mcp-server", "io.github.a/notion"),
        ("notion-mcp-server", "io.github.makenotion/notion-mcp-server", "io.github.a/notion-mcp-server"),
        ("stripe", "com.stripe/mcp", "io.github.a/stripe-mcp"),
        ("aws mcp", "io.github.aws/aws-mcp", "io.github.a/aws-mcp"),
    ],
)
@awaited
async def test_the_maker_of_a_product_comes_first(typed: str, made_by_them: str, others: str) -> None:
    index = await index_of(
        an_entry(others, "Does it all"),
        an_entry(made_by_them, "By us"),
        *(an_entry(f"org.example/{n}", "Something else") for n in range(20)),
    )
    assert (await found(index, typed))[0] == made_by_them


@awaited
async def test_an_owner_who_makes_something_else_does_not() -> None:
    index = await index_of(
        an_entry("io.github.stripe/weather", "Weather"),
        an_entry("io.github.a/stripe", "Payments by Stripe"),
    )
    assert (await found(index, "stripe"))[0] == "io.github.a/stripe"


@awaited
async def test_where_nothing_is_found_something_like_it_is() -> None:
    index = await index_of(an_entry("org.example/homeserver", "Runs it"), an_entry("org.example/zh", "管理集群"))
    assert await found(index, "heimsurver") == ["org.example/homeserver"]
    assert await found(index, "群岛") == []
    assert await found(index, "集市") == ["org.example/zh"]
    assert await found(index, "parcels") == []
    assert await found(index, "heimsurver tag:none") == []


@awaited
async def test_what_the_first_hits_have_in_common_is_found_too() -> None:
    first = [an_entry(f"io.github.a{n}/orchestrate-{n}", f"Orchestration {n} by kubectl") for n in range(12)]
    index = await index_of(
        *first,
        an_entry("org.example/kube", "Speaks kubectl"),
        *(an_entry(f"org.example/{n}", "Something else") for n in range(20)),
    )
    names = await found(index, "orchestration")
    assert "org.example/kube" in names
    assert "org.example/kube" not in names[:12]
    assert "org.example/kube" not in await found(index, "orchestration transport:stdio")


@awaited
async def test_of_entries_that_say_the_same_one_keeps_its_place() -> None:
    copies = [an_entry(f"io.github.fork{n}/remote-{n}", "Deploys a remote server with a login") for n in range(9)]
    index = await index_of(*copies, an_entry("io.github.other/remote-9", "Deploys something remote with a password"))
    names = await found(index, "remote")
    assert names.index("io.github.other/remote-9") <= 1


@awaited
async def test_explain_tells_what_gave_how_much() -> None:
    index = await index_of(
        an_entry("org.example/sky", "Weather and forecasts"),
        *(an_entry(f"org.example/{n}", "Something else") for n in range(20)),
    )
    told = index.explain(Query("umbrella tomorrow", 5)).splitlines()
    rank, score, name = next(line for line in told if "org.example/sky" in line).split()
    assert (rank, name) == ("1", "org.example/sky")
    gave = [float(part.rpartition(" ")[2]) for part in told[-1].strip().split("  ")]
    assert sum(gave) == pytest.approx(float(score), abs=0.01)
    assert told[-1].strip().startswith("need of weather ")
    assert index.explain(Query("🙂", 5)) == ""


def test_what_one_query_may_hold_is_bounded() -> None:
    assert len(read("ﷺ" * 256).text) == MAX_TEXT
    assert len(read(" ".join(f'"w{n}"' for n in range(50))).phrases) == MAX_PHRASES
