"""How many accounts use entries: counted by sketches, shown from three on, by REST, MCP and pages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from directory_server import serialization
from directory_server.feature.server import LOADS
from directory_server.features.popularity.counter import FLOOR, INTERVAL, PERIOD, Sketches
from directory_server.postgres import Database, PostgresTables
from directory_server.runtime.run_sync import run_sync
from directory_server.sqlite import SeparateTables
from directory_server.tables import Tables

from ... import engines
from ...contract import awaited
from ...web.browsers import Browser
from ...web.conftest import Server, entry

PACKAGE = {"registryType": "npm", "identifier": "weather", "version": "1.0.0", "transport": {"type": "stdio"}}
WEATHER = entry("io.github.acme/weather", "Forecasts of rain.", packages=[PACKAGE])


class TestSketches:
    @pytest.fixture(autouse=True, params=["sqlite", "postgres"])
    def _tables(self, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[None]:
        if request.param == "postgres":
            engine: engines.Engine = request.getfixturevalue("migrated_engine")
            engine.empty()
            database = Database(engine.conninfo)
            self.tables: Tables = PostgresTables(database)
            self.sketches = Sketches(self.tables)
            yield
            database.close()
            return
        separate = SeparateTables(tmp_path, "statistics")
        self.tables = separate
        self.sketches = Sketches(separate)
        yield
        separate.close()

    @awaited
    async def test_counts_each_account_of_an_entry_once_from_the_floor_on(self) -> None:
        await self.sketches.add(1, {("a", "ann"), ("a", "bob"), ("b", "ann")})
        assert await self.sketches.counts() == {}
        await self.sketches.add(1, {("a", "ann"), ("a", "cid"), ("b", "bob")})
        assert await self.sketches.counts() == {"a": FLOOR}

    @awaited
    async def test_a_period_counts_until_the_end_of_the_next_one(self) -> None:
        await self.sketches.add(1, {("a", name) for name in "abcd"})
        await self.sketches.add(2, {("a", name) for name in "abc"})
        assert await self.sketches.counts() == {"a": 4}
        await self.sketches.add(3, ())
        assert await self.sketches.counts() == {"a": 3}
        await self.sketches.add(4, ())
        assert await self.sketches.counts() == {}
        assert [row[0] for row in await self.tables.select("SELECT period FROM popularity_period ORDER BY period")] == [
            3,
            4,
        ]

    @awaited
    async def test_the_same_account_has_other_places_at_other_entries_and_in_other_periods(self) -> None:
        for period in (1, 2):
            await self.sketches.add(period, {(str(number), "ann") for number in range(20)})
        places = [row[0] for row in await self.tables.select("SELECT place FROM popularity_mark")]
        assert len(places) == 40
        assert len({*places}) > 30


def use(server: Server, count: int) -> None:
    """Let so many clients open the entry, some of them twice, and write the numbers."""
    for _ in range(count):
        key = server.new_key()[1]
        for _ in range(2):
            assert server.get(f"/api/open/v1/entries/{WEATHER.mcp_id}", key=key).status == 200
    update(server)


def update(server: Server, seconds: float = INTERVAL) -> None:
    """Let time pass, and do what the timer does."""
    server.clock.advance(seconds)
    for load in server.application.server.all(LOADS):
        run_sync(load())


def test_cards_pages_and_search_mcp_say_how_many_use_an_entry(server: Server, operator: Browser) -> None:
    others = [entry(f"io.github.a-{number}/weather", "Forecasts of rain.", packages=[PACKAGE]) for number in range(3)]
    server.publish(WEATHER, *others)
    text = "Used by 4 people here"
    use(server, 2)
    assert "Used by" not in operator.get("/?q=forecasts").body.decode()
    use(server, 2)
    for path in ("/?q=forecasts", "/", f"/servers/{WEATHER.mcp_id}"):
        page = operator.get(path).body.decode()
        assert page.count(text) == 1, path
    row = operator.get("/").body.decode().split('id="row-popular"')[1]
    assert row.index("io.github.acme") < row.index("io.github.a-")
    found = server.call("search_mcp", {"keywords": "forecasts"})["structuredContent"]["data"]
    assert {hit["mcp_id"]: hit["used_by"] for hit in found if "used_by" in hit} == {WEATHER.mcp_id: 4}


def test_members_who_open_the_page_count_and_visitors_do_not(server: Server, operator: Browser) -> None:
    server.publish(WEATHER)
    use(server, 2)
    for _ in range(2):
        assert operator.get(f"/servers/{WEATHER.mcp_id}").status == 200
    server.get(f"/servers/{WEATHER.mcp_id}", key=None)
    update(server)
    assert dict(server.directory.users()) == {WEATHER.mcp_id: 3}
    update(server, 2 * PERIOD)
    assert dict(server.directory.users()) == {}


def test_a_repeated_search_is_encoded_until_the_numbers_change(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    server.publish(WEATHER)
    found_page, users = serialization.found_page, list[object]()

    def counted(hits: Any, numbers: Any) -> bytes:
        users.append(numbers)
        return found_page(hits, numbers)

    monkeypatch.setattr(serialization, "found_page", counted)
    for _ in range(5):
        server.call("search_mcp", {"keywords": "forecasts"})
    assert len(users) == 2
    use(server, 3)
    assert "used_by" in str(server.call("search_mcp", {"keywords": "forecasts"}))
