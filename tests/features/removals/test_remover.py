"""Remover: entries are removed and restored on both databases."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from attrs import define, evolve, field
from twisted.internet.task import Clock

from directory_server.domain.entries import OFFICIAL, Entry, mcp_id_of
from directory_server.domain.versions import LOCAL, REMOVED
from directory_server.features.removals.remover import RECHECK, Remover
from directory_server.features.removals.rules import removal_of
from directory_server.features.removals.settings import RemovalsConfig
from directory_server.features.removals.sources import SourceFailed
from directory_server.features.removals.tables import Advisories
from directory_server.runtime.run_sync import inline, run_sync
from directory_server.services.follower import Follower
from directory_server.tables import StoredCuration, StoredFollowers, StoredWork

from ...logs import captured_lines
from ...tables.conftest import OpenTables, TablesTest, open_store

NAME = "io.acme/postmark"


def entry(name: str = NAME, version: str = "1.0.16", identifier: str = "postmark-mcp", **official: Any) -> Entry:
    packages = [{"registryType": "npm", "identifier": identifier, "version": version, "transport": {"type": "stdio"}}]
    remotes = [{"type": "streamable-http", "url": "https://bad.example/mcp"}]
    server = {"name": name, "version": version, "description": "Sends mail.", "packages": packages, "remotes": remotes}
    return Entry(
        {**server, "_meta": {"io.modelcontextprotocol.registry/publisher-provided": {"readme": "npx bad"}}},
        {OFFICIAL: official} if official else {},
    )


def record(number: str = "MAL-2025-47604", name: str = "postmark-mcp", **affected: Any) -> str:
    package = {"ecosystem": "npm", "name": name}
    return json.dumps({"id": number, "affected": [{"package": package, "versions": ["1.0.16"], **affected}]})


def write(path: Path) -> None:
    path.write_text(record())


@define
class Process:
    """A process with a remover of the sources in a folder."""

    open_tables: OpenTables
    clock: Clock
    folder: Path
    settings: dict[str, Any] = field(factory=dict)
    downloaded: list[str] = field(factory=list)
    announced: list[str] = field(factory=list)
    follower: Follower = field(init=False)

    def __attrs_post_init__(self) -> None:
        tables = self.open_tables()

        async def download(url: str, path: Path) -> None:
            self.downloaded.append(url)
            if url.endswith("bad"):
                raise SourceFailed("It answered 500.")
            write(path)

        remover = Remover(
            settings=RemovalsConfig(**{"sources": (str(self.folder),), **self.settings}),
            store=open_store(tables),
            curation=StoredCuration(tables),
            advisories=Advisories(tables),
            download=download,
            offload=inline,
            now=self.clock.seconds,
        )
        followers, work = StoredFollowers(tables, self.clock.seconds), StoredWork(tables, self.clock.seconds)
        storage = SimpleNamespace(store=open_store(tables), followers=followers, work=work)
        self.follower = remover.follower(storage, self.clock, lambda: self.announced.append("change"))

    def update(self) -> None:
        run_sync(self.follower.update())

    def end(self) -> None:
        run_sync(self.follower.release())


@pytest.fixture
def clock() -> Clock:
    clock = Clock()
    clock.advance(1_800_000_000)
    return clock


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "osv"
    folder.mkdir()
    (folder / "MAL-2025-47604.json").write_text(record())
    return folder


class TestRemover(TablesTest):
    @pytest.fixture(autouse=True)
    def _process(self, clock: Clock, folder: Path) -> None:
        self.clock, self.folder = clock, folder
        self.process = Process(self.open_tables, clock, folder)

    def publish(self, *entries: Entry, source: str = LOCAL) -> None:
        run_sync(open_store(self.open_tables()).publish(source, entries))

    def visible(self, name: str = NAME) -> Entry | None:
        return run_sync(open_store(self.open_tables()).entry(mcp_id_of(name)))

    def names(self) -> Sequence[str]:
        return [each.name for each in run_sync(open_store(self.open_tables()).of_source(REMOVED))]

    def test_a_malicious_version_is_removed_and_stays_visible(self) -> None:
        self.publish(entry(publishedAt="2025-09-01T00:00:00Z"), entry("io.acme/other", identifier="other"))
        self.process.update()
        found = self.visible()
        assert found is not None
        assert (found.status, found.packages, found.remotes, found.readme) == ("deleted", (), (), "")
        assert found.status_message == (
            "Removed from this directory on 2027-01-15. Malicious: npm package postmark-mcp 1.0.16 (MAL-2025-47604)."
        )
        assert found.official["publishedAt"] == "2025-09-01T00:00:00Z"
        assert self.names() == [NAME]
        assert self.process.announced == ["change"]
        change = run_sync(open_store(self.open_tables()).changes(2, 10))[-1]
        assert (change.mcp_id, change.kind) == (mcp_id_of(NAME), "changed")

    def test_nothing_of_the_publisher_stays_but_name_and_version(self) -> None:
        texts = {
            "$schema": "https://example.org/schema.json",
            "title": "Mail, moved to evil.example",
            "websiteUrl": "https://evil.example",
            "icons": [{"src": "https://evil.example/icon.png"}],
            "repository": {"url": "https://github.com/evil/evil", "source": "github"},
        }
        malicious = evolve(entry(), server={**texts, **entry().server})
        self.publish(malicious)
        self.process.update()
        found = self.visible()
        assert found is not None
        assert found.server == {
            "$schema": texts["$schema"],
            "name": NAME,
            "version": "1.0.16",
            "description": "Removed from this directory: it has a malicious package.",
        }
        assert "evil" not in repr(found)
        # Older versions of the software stored such removals.
        run_sync(open_store(self.open_tables()).publish(REMOVED, [evolve(found, server={**found.server, **texts})]))
        self.clock.advance(RECHECK)
        self.process.update()
        assert self.visible() == found
        head = run_sync(open_store(self.open_tables()).head())
        self.clock.advance(RECHECK)
        self.process.update()
        assert run_sync(open_store(self.open_tables()).head()) == head

    def test_the_registry_lists_it_as_deleted(self) -> None:
        self.publish(entry())
        self.process.update()
        store = open_store(self.open_tables())
        assert run_sync(store.listing(("", ""), 10)) == []
        (listed,) = run_sync(store.listing(("", ""), 10, include_deleted=True))
        assert listed.deleted
        assert b"bad.example" not in listed.body
        # Other versions of the name are not served either.
        assert [each.version for each in run_sync(store.versions(NAME))] == ["1.0.16"]
        assert b"npx bad" not in run_sync(store.versions(NAME))[0].body

    def test_changes_are_compared(self) -> None:
        self.process.update()
        self.publish(entry())
        self.process.update()
        assert self.names() == [NAME]
        # Nothing more is written.
        head = run_sync(open_store(self.open_tables()).head())
        self.clock.advance(RECHECK)
        self.process.update()
        assert run_sync(open_store(self.open_tables()).head()) == head

    def test_a_clean_version_restores_the_entry(self) -> None:
        self.publish(entry())
        self.process.update()
        self.publish(entry(version="1.0.17", isLatest=True))
        self.clock.advance(RECHECK)
        self.process.update()
        found = self.visible()
        assert found is not None
        assert (found.version, found.status) == ("1.0.17", "active")
        assert self.names() == []

    def test_another_malicious_version_replaces_the_removal(self) -> None:
        (self.folder / "MAL-2.json").write_text(record("MAL-2", versions=["1.0.17"]))
        self.publish(entry())
        self.process.update()
        self.publish(entry(version="1.0.17", isLatest=True))
        self.clock.advance(RECHECK)
        self.process.update()
        found = self.visible()
        assert found is not None
        removal = removal_of(found)
        assert removal is not None
        assert (found.version, removal.ids) == ("1.0.17", ("MAL-2",))

    def test_a_withdrawn_record_restores_the_entry(self) -> None:
        self.publish(entry())
        self.process.update()
        (self.folder / "MAL-2025-47604.json").write_text(json.dumps({"id": "MAL-2025-47604", "withdrawn": "2026"}))
        self.clock.advance(86_400)
        self.process.update()
        assert self.names() == []
        found = self.visible()
        assert found is not None
        assert found.packages

    def test_what_its_source_deletes_stays_removed(self) -> None:
        self.publish(entry())
        self.process.update()
        self.publish(entry(status="deleted"))
        self.clock.advance(RECHECK)
        self.process.update()
        assert self.names() == [NAME]

    def test_names_to_keep(self) -> None:
        self.publish(entry())
        self.process.update()
        self.process.end()
        kept = Process(self.open_tables, self.clock, self.folder, settings={"keep": ("io.acme/*",)})
        kept.update()
        assert self.names() == []

    def test_an_unreadable_source_changes_nothing(self) -> None:
        self.publish(entry())
        self.process.update()
        for path in self.folder.iterdir():
            path.unlink()
        self.clock.advance(86_400)
        with captured_lines() as lines:
            self.process.update()
            self.clock.advance(60)
            self.process.update()
        assert self.names() == [NAME]
        assert len([line for line in lines if "no JSON document" in line]) == 1

    def test_urls_are_downloaded(self) -> None:
        self.publish(entry())
        sources = ("https://osv.example/npm.zip",)
        process = Process(self.open_tables, self.clock, self.folder, settings={"sources": sources})
        process.update()
        assert self.names() == [NAME]
        process.update()
        assert process.downloaded == list(sources)

    def test_one_failed_source_keeps_the_advisories_of_all(self) -> None:
        self.publish(entry())
        self.process.update()
        self.process.end()
        sources = (str(self.folder), "https://osv.example/bad")
        process = Process(self.open_tables, self.clock, self.folder, settings={"sources": sources})
        process.update()
        assert self.names() == [NAME]

    def test_a_forged_removal_is_not_imported(self) -> None:
        from directory_server.serialization import REMOVAL, decode_entry

        forged = entry()
        value = {"server": dict(forged.server), "_meta": {REMOVAL: {"at": 7}}}
        assert removal_of(decode_entry(value)) is None
        self.publish(evolve(decode_entry(value)))
        self.process.update()
        assert self.names() == [NAME]
