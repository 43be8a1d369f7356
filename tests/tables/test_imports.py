"""The Store and the StoredCuration: entries imported from files, and the schema step that tells older ones apart."""

from __future__ import annotations

from collections.abc import Sequence

from directory_server.domain.entries import Entry, mcp_id_of
from directory_server.domain.ports.storage import Store
from directory_server.domain.versions import IMPORTED, LOCAL, PUBLISHED, SAMPLE
from directory_server.domain.visibility import CuratedName
from directory_server.sqlite import SqliteTables
from directory_server.upgrades import former_steps

from ..contract import awaited
from ..contract.store import NAME, entry, kinds
from .conftest import WithStore, rows_of, run_script

NAMES_NOW = (("visible_id", "shown"), ("preferred_id", "chosen"))
"""Columns of `entry` in SQLite, and their names at the step that tells imported entries apart."""

TOTALS = """
    SELECT source, names, bytes FROM stored WHERE names > 0
    UNION ALL SELECT source, count(DISTINCT name), sum(octet_length(body)) FROM record GROUP BY source
    ORDER BY source
"""


async def source_of(store: Store, name: str) -> str | None:
    """Return the source that represents `name`."""
    source, _ = (await store.preferred([name])).get(name, (None, ""))
    return source


class TestImports(WithStore):
    @awaited
    async def test_imported_entries_follow_all_but_the_sample(self) -> None:
        # The second process has no configuration, as a command without its option: it knows no order of upstreams.
        for store in (await self.store(["up"]), await self.store()):
            name = f"x/{id(store)}"
            for source in (SAMPLE, IMPORTED, "zeta", "up", PUBLISHED, LOCAL):
                await store.publish(source, [entry(name, brief=source)])
                assert await source_of(store, name) == source
            for source in (SAMPLE, IMPORTED, "zeta"):
                await store.publish(source, [entry(name, version="9.0.0", brief=source, isLatest=True)])
            assert await source_of(store, name) == LOCAL

    @awaited
    async def test_imported_entries_are_shown_until_an_upstream_has_the_name(self) -> None:
        store, curation = await self.store(["up"]), await self.curation(["up"])
        await store.publish(IMPORTED, [entry(version="9.0.0", brief="imported")])
        assert await store.entry(mcp_id_of(NAME)) == entry(version="9.0.0", brief="imported")
        assert list(await curation.curated()) == []
        assert list(await store.listing(("", ""), 9, curated=True)) == []
        await store.publish("up", [entry(brief="up")])
        assert await store.entry(mcp_id_of(NAME)) == entry(brief="up")
        # What an upstream withdraws, such as malware, does not come back from the file.
        await store.publish("up", [entry(brief="up", status="deleted")])
        assert await store.entry(mcp_id_of(NAME)) is None
        assert await source_of(store, NAME) == "up"
        await store.publish(IMPORTED, [entry(version="9.0.0", brief="imported again")])
        assert await store.entry(mcp_id_of(NAME)) is None
        await store.publish("up", [entry(brief="up again")])
        assert await store.entry(mcp_id_of(NAME)) == entry(brief="up again")
        assert kinds(await store.changes(0, 10)) == ["added", "changed", "removed", "added"]

    @awaited
    async def test_own_entries_precede_imported_ones_until_they_are_removed(self) -> None:
        store, curation = await self.store(), await self.curation(["up"])
        await store.publish(IMPORTED, [entry(brief="imported")])
        await store.publish(LOCAL, [entry(brief="local")])
        await store.publish(IMPORTED, [entry(version="2.0.0", brief="imported")])
        assert await store.entry(mcp_id_of(NAME)) == entry(brief="local")
        assert list(await curation.curated()) == [CuratedName(NAME, local=True)]
        assert await curation.disown(NAME)
        assert not await curation.disown(NAME)
        assert await store.entry(mcp_id_of(NAME)) == entry(version="2.0.0", brief="imported")

    def script(self) -> str:
        """Return the step."""
        is_sqlite = isinstance(self.open_tables(), SqliteTables)
        steps = former_steps(*("sqlite", "directory") if is_sqlite else ("postgres",))
        (script,) = (script for script in steps if "source = 'imported'" in script)
        return script

    def run(self, script: str) -> None:
        tables = self.open_tables()
        names = NAMES_NOW if isinstance(tables, SqliteTables) else ()
        before = [f"ALTER TABLE entry RENAME COLUMN {name} TO {earlier};" for name, earlier in names]
        after = [f"ALTER TABLE entry RENAME COLUMN {earlier} TO {name};" for name, earlier in names]
        run_script(tables, "\n".join([*before, f"{script};", *after]))

    @awaited
    async def test_the_step_tells_imports_from_other_own_entries(self) -> None:
        store, curation = await self.store(["up"]), await self.curation(["up"])
        own = [entry(f"x/{number:02}", brief="file", isLatest=True) for number in range(60)]
        mirrored: dict[str, Sequence[Entry]] = {
            "up": [
                entry("x/00", "2.0.0", "up", isLatest=True),
                entry("x/00", "1.5.0", "up"),
                entry("x/01", brief="up", status="deleted"),
                entry("x/03", "2.0.0", "up"),
                own[4],
                entry("x/05", "2.0.0", "up"),
                entry("x/06", "2.0.0", "up"),
            ],
            PUBLISHED: [entry("x/01", "1.1.0", "published")],
            SAMPLE: [entry("x/07", "2.0.0", "sample")],
        }
        await store.publish("up", [entry("x/02", brief="up", status="deleted")])
        await store.publish("up", mirrored["up"])
        await store.publish(PUBLISHED, mirrored[PUBLISHED])
        await store.publish(SAMPLE, mirrored[SAMPLE])
        await store.publish(LOCAL, own)
        await store.publish(LOCAL, [entry("x/08", "2.0.0", "edited")])
        await curation.mark("x/05", "hidden", True)
        await curation.mark("x/06", "pinned", True)
        # Edited later than the file was imported.
        self.run("UPDATE record SET updated_at = updated_at + 9 WHERE source = 'local' AND name = 'x/03'")
        self.run("UPDATE record SET updated_at = updated_at + 9 WHERE source = 'local' AND version = '2.0.0'")
        head, count = await store.head(), await store.count()
        self.run(self.script())

        sources = {each.name: await source_of(store, each.name) for each in own}
        expected = {each.name: IMPORTED for each in own}
        expected |= {f"x/{number:02}": "up" for number in (0, 2, 4, 5, 6)}
        expected |= {"x/01": PUBLISHED, "x/03": LOCAL, "x/08": LOCAL}
        assert sources == expected
        changes = await store.changes(head, 100)
        changed = {each.mcp_id: each.kind for each in changes}
        names = {mcp_id_of(each.name): each.name for each in own}
        assert {names[mcp_id]: kind for mcp_id, kind in changed.items()} == {
            "x/00": "changed",
            "x/01": "changed",
            "x/02": "removed",
            "x/06": "changed",
        }
        assert await store.count() == count - 1
        assert await store.entry(mcp_id_of("x/00")) == entry("x/00", "2.0.0", "up", isLatest=True)
        assert await store.entry(mcp_id_of("x/02")) is None
        assert await store.entry(mcp_id_of("x/05")) is None
        assert await store.entry(mcp_id_of("x/07")) == own[7]
        assert {each.name: each.local for each in await curation.curated()} == {
            "x/01": False,
            "x/03": True,
            "x/05": False,
            "x/06": False,
            "x/08": True,
        }
        assert [each.name for each in await store.listing(("", ""), 9, curated=True)] == [
            "x/01",
            "x/03",
            "x/06",
            "x/08",
        ]
        kept, counted = rows_of(self.open_tables(), TOTALS)[::2], rows_of(self.open_tables(), TOTALS)[1::2]
        assert kept == counted
        # Later writes agree: each name is resolved by the same rules.
        before = await store.head()
        await store.publish(IMPORTED, [entry(each.name, "0.0.1", "old") for each in own])
        assert await store.head() == before
        await store.publish("up", [entry("x/00", "2.0.0", "up", isLatest=True, status="deleted")])
        assert kinds(await store.changes(before, 10)) == ["removed"]

    @awaited
    async def test_the_step_leaves_few_own_entries_and_a_source_of_that_name(self) -> None:
        store = await self.store()
        await store.publish(LOCAL, [entry(f"x/{number}") for number in range(49)])
        self.run(self.script())
        assert await source_of(store, "x/7") == LOCAL
        await store.publish(IMPORTED, [entry("y/a")])
        await store.publish(LOCAL, [entry(f"y/{number}") for number in range(60)])
        self.run(self.script())
        assert await source_of(store, "y/7") == LOCAL
