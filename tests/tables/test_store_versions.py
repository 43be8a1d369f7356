"""The Store: versions and sources of a name, and which of them is visible."""

from __future__ import annotations

from unittest.mock import patch

from directory_server.domain.entries import mcp_id_of
from directory_server.domain.publishing import MAX_VERSIONS
from directory_server.sqlite import SqliteTables
from directory_server.tables import _curation
from directory_server.upgrades import former_steps

from ..contract import at_once, awaited
from ..contract.store import NAME, entry, kinds
from .conftest import WithStore, rows_of, run_script


class TestStoreVersions(WithStore):
    """Several versions and sources of one name."""

    @awaited
    async def test_prefers_the_later_version_in_any_order_of_publishing(self) -> None:
        store = await self.store()
        await store.publish("a", [entry(version="1.9.0")])
        await store.publish("a", [entry(version="1.10.0")])
        assert list(await store.publish("a", [entry(version="1.2.0")])) == ["added"]
        assert await store.entry(mcp_id_of(NAME)) == entry(version="1.10.0")
        assert kinds(await store.changes(0, 10)) == ["added", "changed"]

    @awaited
    async def test_logs_nothing_when_an_invisible_version_changes(self) -> None:
        store = await self.store()
        await store.publish("a", [entry(version="1.0.0"), entry(version="2.0.0")])
        head = await store.head()
        assert list(await store.publish("a", [entry(version="1.0.0", brief="Old.")])) == ["changed"]
        assert await store.head() == head

    @awaited
    async def test_prefers_the_latest_version_of_the_registry(self) -> None:
        store = await self.store()
        await store.publish("a", [entry(version="3.0.0", isLatest=False), entry(version="2.0.0", isLatest=True)])
        visible = await store.entry(mcp_id_of(NAME))
        assert visible is not None
        assert visible.version == "2.0.0"

    @awaited
    async def test_prefers_local_entries_then_sources_in_order_then_others_by_name(self) -> None:
        store = await self.store(["second", "third"])
        ranking = ["local", "second", "third", "alpha", "zeta"]
        visible = []
        for source in reversed(ranking):
            await store.publish(source, [entry(brief=source)])
            current = await store.entry(mcp_id_of(NAME))
            assert current is not None
            visible.append(current.brief)
        assert visible == list(reversed(ranking))
        for source in reversed(ranking[1:]):
            await store.publish(source, [entry(version="2.0.0", brief=source)])
        assert await store.entry(mcp_id_of(NAME)) == entry(brief="local")

    @awaited
    async def test_logs_nothing_when_another_source_has_the_same_content(self) -> None:
        store = await self.store()
        await store.publish("b", [entry()])
        assert list(await store.publish("local", [entry()])) == ["added"]
        assert await store.head() == 1
        assert list(await store.publish("b", [entry(brief="It snows.")])) == ["changed"]
        assert await store.entry(mcp_id_of(NAME)) == entry()
        assert await store.head() == 1

    @awaited
    async def test_accepts_a_name_twice_in_a_batch(self) -> None:
        store = await self.store()
        batch = [entry(version="1.0.0"), entry(version="2.0.0"), entry(version="2.0.0", brief="It snows.")]
        assert list(await store.publish("a", batch)) == ["added", "added", "changed"]
        assert await store.entry(mcp_id_of(NAME)) == batch[-1]
        assert kinds(await store.changes(0, 10)) == ["added"]
        assert await store.count() == 1
        again = [
            entry(version="3.0.0"),
            entry("x/b"),
            entry(version="4.0.0"),
            entry(version="2.0.0", brief="It hails."),
        ]
        assert list(await store.publish("a", again)) == ["added", "added", "added", "changed"]
        assert await store.entry(mcp_id_of(NAME)) == again[2]
        assert kinds(await store.changes(1, 10)) == ["changed", "added"]

    @awaited
    async def test_keeps_the_latest_versions_of_a_name_and_source(self) -> None:
        store = await self.store()
        await store.publish("b", [entry(version="0.0.1")])
        await store.publish("a", [entry(version="0.0.7", isLatest=True)])
        batch = [entry(version=f"1.{number}.0") for number in range(300)]
        for _ in range(2):
            outcomes = await store.publish("a", batch)
            assert list(outcomes[:101]) == ["too_old"] * 101
            assert "too_old" not in outcomes[101:]
        versions = {each.version: each.latest for each in await store.versions(NAME)}
        assert len(versions) == 200
        assert versions["0.0.7"]
        assert "1.101.0" in versions
        assert await store.entry(mcp_id_of(NAME)) == entry(version="0.0.7", isLatest=True)
        # Older versions are not stored; a newer one replaces the oldest.
        assert list(await store.publish("a", [entry(version="1.5.0")])) == ["too_old"]
        assert list(await store.publish("a", [entry(version="2.0.0", isLatest=True)])) == ["added"]
        versions = {each.version: each.latest for each in await store.versions(NAME)}
        assert len(versions) == 200
        assert versions["2.0.0"]
        assert "0.0.7" not in versions
        assert "1.101.0" in versions
        assert [change.kind for change in await store.changes(0, 10)] == ["added", "changed", "changed"]

    @awaited
    async def test_a_version_that_must_be_new_replaces_nothing(self) -> None:
        one, other = await self.store(["up"]), await self.store(["up"])
        assert list(await one.publish("published", [entry()], new=True)) == ["added"]
        for again in (entry(), entry(brief="It snows.")):
            assert list(await other.publish("published", [again], new=True)) == ["exists"]
        assert await other.head() == 1
        batch = [entry(version="1.1.0"), entry(brief="It snows."), entry("x/a"), entry(version="1.1.0")]
        assert list(await other.publish("published", batch, new=True)) == ["added", "exists", "added", "exists"]
        assert [each.version for each in await one.published(NAME)] == ["1.0.0", "1.1.0"]
        assert [each.brief for each in await one.published(NAME)] == ["It rains.", "It rains."]
        assert await one.entry(mcp_id_of(NAME)) == entry(version="1.1.0")

    @awaited
    async def test_a_version_that_must_be_new_drops_nothing(self) -> None:
        store = await self.store()
        batch = [entry(version=f"1.0.{number}") for number in range(MAX_VERSIONS)]
        assert set(await store.publish("published", batch, new=True)) == {"added"}
        assert list(await store.publish("published", [entry(version="2.0.0")], new=True)) == ["over_limit"]
        assert list(await store.publish("published", [entry(version="1.0.7")], new=True)) == ["exists"]
        assert [each.version for each in await store.published(NAME)] == [each.version for each in batch]

    @awaited
    async def test_publishers_of_one_new_version_at_once_store_it_once(self) -> None:
        stores = [await self.store() for _ in range(4)]
        outcomes = await at_once(
            *(store.publish("published", [entry(brief=f"{number}")], new=True) for number, store in enumerate(stores))
        )
        assert sorted(outcome for (outcome,) in outcomes) == ["added", "exists", "exists", "exists"]
        (winner,) = await stores[0].published(NAME)
        assert [winner.brief] == [str(number) for number, (outcome,) in enumerate(outcomes) if outcome == "added"]

    @awaited
    async def test_published_entries_precede_upstreams_and_follow_local_ones(self) -> None:
        store = await self.store(["up"])
        await store.publish("up", [entry(version="9.0.0", brief="upstream", isLatest=True)])
        assert await store.preferred([NAME]) == {NAME: ("up", "9.0.0")}
        await store.publish("published", [entry(brief="published")], new=True)
        await store.publish("up", [entry(version="9.1.0", brief="upstream", isLatest=True)])
        assert await store.preferred([NAME]) == {NAME: ("published", "1.0.0")}
        assert await store.entry(mcp_id_of(NAME)) == entry(brief="published")
        await store.publish("local", [entry(brief="local")])
        assert await store.preferred([NAME]) == {NAME: ("local", "1.0.0")}
        assert [each.brief for each in await store.published(NAME)] == ["published"]
        assert await store.preferred(["x/unknown"]) == {}
        assert list(await store.published("x/unknown")) == []

    @awaited
    async def test_the_latest_published_version_is_one_that_is_not_deleted(self) -> None:
        store = await self.store(["up"])
        await store.publish("up", [entry(version="9.0.0", brief="upstream", isLatest=True)])
        await store.publish("published", [entry(), entry(version="1.1.0")], new=True)
        assert list(await store.publish("published", [entry(version="1.1.0", status="deleted")])) == ["changed"]
        found = await store.entry(mcp_id_of(NAME))
        assert found is not None
        assert found.version == "1.0.0"
        await store.publish("published", [entry(status="deleted")])
        # An upstream does not take the name over.
        assert await store.entry(mcp_id_of(NAME)) is None
        assert await store.preferred([NAME]) == {NAME: ("published", "1.1.0")}

    @awaited
    async def test_chooses_the_visible_record_again_after_an_upgrade(self) -> None:
        store, curation, tables = await self.store(), await self.curation(), self.open_tables()
        for name in ("x/a", "x/b", "x/c"):
            await store.publish("a", [entry(name, version) for version in ("1.0.0", "2.0.0", "nightly")])
        await store.publish("a", [entry("x/marked", "1.0.0", isLatest=True), entry("x/marked", "2.0.0")])
        await store.publish("a", [entry("x/one")])
        head = await store.head()
        # An older version of the software has chosen these.
        wrong = "SELECT id FROM record WHERE record.name = entry.name AND version"
        run_script(
            tables,
            f"""
            UPDATE entry SET visible_id = ({wrong} = 'nightly'), preferred_id = ({wrong} = 'nightly')
            WHERE name IN ('x/a', 'x/b');
            """,
        )
        steps = former_steps(*("sqlite", "directory") if isinstance(tables, SqliteTables) else ("postgres",))
        (step,) = (step for step in steps if "CREATE TABLE unresolved" in step)
        _, insert, statement = step.partition("INSERT INTO")
        run_script(tables, insert + statement)
        unresolved = "SELECT name FROM unresolved ORDER BY name"
        assert rows_of(tables, unresolved) == [("x/a",), ("x/b",), ("x/c",)]
        with patch.object(_curation, "BATCH", 2):
            await curation.resolve()
        assert rows_of(tables, unresolved) == []
        for name in ("x/a", "x/b", "x/c"):
            assert await store.entry(mcp_id_of(name)) == entry(name, "2.0.0")
        changed = await store.changes(head, 10)
        assert [(change.kind, change.mcp_id) for change in changed] == [
            ("changed", mcp_id_of("x/a")),
            ("changed", mcp_id_of("x/b")),
        ]
