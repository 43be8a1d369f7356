"""The vectors of entries: made once, by one process, kept, and read by all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from attrs import define, field
from twisted.internet.task import Clock

from directory_server.domain.entries import Entry, mcp_id_of
from directory_server.features.embeddings.builder import (
    INTERVAL,
    LEASE,
    LONGEST_RETRY,
    MAX_TEXT,
    RETRY,
    VectorBuilder,
    model_id,
    text_of,
)
from directory_server.features.embeddings.settings import EmbeddingsConfig
from directory_server.features.embeddings.vectors import Embeddings
from directory_server.runtime.run_sync import inline, run_sync
from directory_server.runtime.timers import Timer
from directory_server.sqlite import Database, SqliteTables, sqlite_store
from directory_server.tables import StoredCuration, StoredEntries, StoredFollowers, StoredWork
from tests.logs import captured_lines

from ...contract.store import Briefs
from .stubs import StubEndpoint, vector_of

MODEL = "model"


def entry(name: str, text: str = "Reads mail.") -> Entry:
    return Entry({"name": f"a.example/{name}", "version": "1.0.0", "description": text})


@define(eq=False)
class Process:
    """A process that makes and reads vectors."""

    builder: VectorBuilder
    services: Sequence[Timer]
    endpoint: StubEndpoint
    clock: Clock

    def run(self, seconds: float = INTERVAL) -> None:
        self.clock.advance(seconds)

    def stop(self) -> None:
        for service in self.services:
            service.stopService()

    @property
    def asked(self) -> list[str]:
        return [text for request in self.endpoint.requests for text in request]


@define(eq=False)
class Machine:
    """A data directory, and the processes that use it."""

    folder: Path
    store: StoredEntries
    database: Database
    processes: list[Process] = field(factory=list)
    made: list[int] = field(factory=list)

    def start(self, model: str = MODEL, batch: int = 2, **endpoint: Any) -> Process:
        clock, stub, tables = Clock(), StubEndpoint(**endpoint), SqliteTables(self.database)
        builder = VectorBuilder(
            model,
            batch,
            stub,  # type: ignore[arg-type]
            Embeddings(tables),
            inline,
            self.made.append,
        )
        followers, work = StoredFollowers(tables, lambda: 0.0), StoredWork(tables, lambda: 0.0)
        storage = SimpleNamespace(store=self.store, followers=followers, work=work)
        reader = Timer(INTERVAL, builder.read, clock, finish=builder.close)
        self.processes.append(Process(builder, [builder.follower(storage, clock), reader], stub, clock))
        for service in self.processes[-1].services:
            service.startService()
        return self.processes[-1]

    def publish(self, *entries: Entry) -> None:
        run_sync(self.store.publish("local", entries))


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    database = Database(tmp_path, "directory")
    machine = Machine(tmp_path, sqlite_store(database, inline, Briefs()), database)
    yield machine
    for process in machine.processes:
        process.stop()
    database.close()


def test_every_entry_gets_a_vector_in_batches(machine: Machine) -> None:
    machine.publish(*(entry(f"server-{number}", "Does. " * number) for number in range(5)))
    process = machine.start()
    assert process.builder.is_complete
    assert len(process.builder.vectors) == 5
    assert [len(request) for request in process.endpoint.requests] == machine.made == [2, 2, 1]
    assert process.asked[0].startswith("server 0. ")


def test_vectors_are_kept_for_the_next_start(machine: Machine) -> None:
    machine.publish(entry("a"), entry("b"))
    machine.start().stop()
    later = machine.start()
    assert later.builder.is_complete
    assert len(later.builder.vectors) == 2
    assert later.endpoint.requests == []


def test_only_changed_texts_are_read_again(machine: Machine) -> None:
    machine.publish(entry("a"), entry("b"))
    process = machine.start()
    before = len(process.endpoint.requests)
    machine.publish(entry("b", "Sends mail."), entry("c"))
    process.run()
    assert sorted(process.asked[2:]) == ["b. Sends mail.", "c. Reads mail."]
    assert len(process.builder.vectors) == 3
    changed = Entry({**entry("c").server, "websiteUrl": "https://a.example"})
    machine.publish(changed)
    process.run()
    assert len(process.endpoint.requests) == before + 1


def test_vectors_of_removed_entries_are_deleted(machine: Machine) -> None:
    machine.publish(entry("a"), entry("b"))
    process = machine.start()
    run_sync(StoredCuration(SqliteTables(machine.database)).mark("a.example/a", "hidden", True))
    process.run()
    rows = run_sync(Embeddings(SqliteTables(machine.database)).read(MODEL, 0, 10))
    assert [mcp_id for _, mcp_id, _ in rows] == [mcp_id_of("a.example/b")]


def test_another_model_starts_anew_beside_the_old_one(machine: Machine) -> None:
    machine.publish(entry("a"))
    machine.start().stop()
    other = machine.start("other", size=8)
    assert other.asked == ["a. Reads mail."]
    assert other.builder.vectors.dimensions == 8


def test_one_process_makes_vectors_and_others_read_them(machine: Machine) -> None:
    machine.publish(entry("a"), entry("b"), entry("c"))
    maker = machine.start(waits=True)
    reader = machine.start()
    assert reader.endpoint.requests == []
    assert not reader.builder.is_complete
    maker.endpoint.answer()
    maker.endpoint.answer()
    maker.run()
    assert maker.builder.is_complete
    reader.run()
    assert reader.builder.is_complete
    assert len(reader.builder.vectors) == 3
    assert reader.endpoint.requests == []


def test_a_process_takes_over_when_another_stops(machine: Machine) -> None:
    machine.publish(entry("a"), entry("b"), entry("c"))
    maker = machine.start(waits=True)
    maker.endpoint.answer()
    maker.stop()
    assert maker.endpoint.cancelled == 1
    assert maker.endpoint.closed
    heir = machine.start()
    assert heir.builder.is_complete
    assert len(heir.asked) == 1


def test_a_process_without_its_lease_makes_nothing_and_forgets_nothing(machine: Machine) -> None:
    machine.publish(entry("a"), entry("b"))
    process = machine.start(batch=1, waits=True)
    hold = process.builder._hold

    async def is_lost() -> bool:
        return False

    process.builder._hold = is_lost
    process.endpoint.answer()
    assert process.endpoint.waiting == []
    process.builder._hold, process.endpoint.waits = hold, False
    process.run()
    process.run()
    assert process.builder.is_complete
    assert len(process.builder.vectors) == 2


def test_a_failure_is_logged_once_and_retried_ever_later(machine: Machine) -> None:
    machine.publish(entry("a"))
    with captured_lines() as lines:
        process = machine.start(error="It answered 500.")
        assert not process.builder.is_complete
        process.run(RETRY - 1)
        assert len(process.endpoint.requests) == 1
        for _ in range(10):
            process.run(LONGEST_RETRY)
    assert len([line for line in lines if "retrying: It answered 500." in line]) == 1
    assert len(process.endpoint.requests) == 11
    process.endpoint.error = ""
    process.run(LONGEST_RETRY)
    assert process.builder.is_complete


def test_another_length_of_vectors_is_an_error_that_says_what_to_do(machine: Machine) -> None:
    machine.publish(entry("a"))
    machine.start().stop()
    machine.publish(entry("b"))
    with captured_lines() as lines:
        process = machine.start(size=8)
    assert any("vectors of 8 numbers, and the stored ones have 32" in line for line in lines)
    assert len(process.builder.vectors) == 1


def test_memory_is_filled_anew_after_many_deletions(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("directory_server.features.embeddings.builder.STALE", 1)
    machine.publish(*(entry(f"server-{number}") for number in range(4)))
    process = machine.start()
    curation = StoredCuration(SqliteTables(machine.database))
    for number in range(2):
        run_sync(curation.mark(f"a.example/server-{number}", "hidden", True))
    process.run()
    assert len(process.builder.vectors) == 4
    run_sync(curation.mark("a.example/server-2", "hidden", True))
    process.run()
    assert len(process.builder.vectors) == 1
    assert process.builder.is_complete


def test_the_text_of_an_entry() -> None:
    named = {"name": "a.example/read-my_mail", "version": "1", "description": "Reads."}
    assert text_of(Entry(named)) == "read my mail. Reads."
    assert text_of(Entry({**named, "title": "Mail"})) == "Mail. Reads."
    assert len(text_of(Entry({**named, "description": "x" * 5_000}))) == MAX_TEXT


def test_the_model_has_another_id_if_its_vectors_differ() -> None:
    def id_of(**settings: Any) -> str:
        return model_id(EmbeddingsConfig(url="http://a.example/v1/embeddings", **settings))

    same = [id_of(), id_of(query_prefix="query: ", timeout=1.0, batch=1, key_file="/key")]
    others = [id_of(model="m"), id_of(passage_prefix="passage: "), id_of(dimensions=256)]
    assert len(set(same)) == 1
    assert len({*same, *others}) == 4


def test_the_lease_is_longer_than_a_request() -> None:
    from directory_server.features.embeddings.endpoint import PASSAGES_DEADLINE

    assert LEASE / 2 > PASSAGES_DEADLINE


def test_the_vector_of_an_entry_is_that_of_its_text(machine: Machine) -> None:
    machine.publish(entry("a"))
    machine.start()
    ((_, _, vector),) = run_sync(Embeddings(SqliteTables(machine.database)).read(MODEL, 0, 10))
    assert vector == vector_of("a. Reads mail.")
