"""Bus of changes: notifications, a poll, and the detection of a database that went back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import pytest
from twisted.internet.defer import Deferred
from twisted.internet.task import Clock, deferLater
from twisted.logger import LogEvent, Logger, formatEvent

from directory_server.domain.errors import Unavailable
from directory_server.postgres import Database, LastRead, PostgresBus, Pulse, postgres_store
from directory_server.postgres._statements import Row
from directory_server.runtime.run_sync import inline, run_sync

from ..contract import awaited
from ..contract.bus import BusContract
from ..contract.store import Briefs, entry
from .conftest import Open, OpenSession, PostgresAdapterTest


class TestPostgresBus(PostgresAdapterTest, BusContract):
    @pytest.fixture(autouse=True)
    def _service(self, _open_database: None) -> Iterator[None]:
        self.clock = Clock()
        database = self.open_database()
        self._bus = PostgresBus(database, Pulse(database, self.clock.seconds), LastRead(), self.clock, pytest.fail)
        self._store = postgres_store(self.open_database(), inline, Briefs())
        self._written = 0
        self._bus.startService()
        yield
        self._bus.stopService()

    async def bus(self) -> PostgresBus:
        return self._bus

    async def write(self) -> None:
        self._written += 1
        await self._store.publish("a", [entry(f"x/{self._written}")])

    async def wait_a_second(self) -> None:
        self.clock.pump([0.25] * 4)


class Watched:
    """A bus on the clock of the test, what it woke, and the messages of a database that went back."""

    def __init__(self, database: Database) -> None:
        self.clock = Clock()
        self.database = database
        self.pulse = Pulse(database, self.clock.seconds)
        self.woken: list[None] = []
        self.messages: list[str] = []
        last_read = LastRead()
        self._store = postgres_store(database, inline, Briefs(), last_read=last_read)
        self.bus = PostgresBus(database, self.pulse, last_read, self.clock, self.messages.append)
        self.bus.subscribe(lambda: self.woken.append(None))

    def read(self) -> int:
        """Read the whole log, as a feed does; return its last change."""
        return run_sync(self._store.changes(0, 100))[-1].seq


@pytest.fixture
def watched(open_database: Open) -> Iterator[Watched]:
    watched = Watched(open_database())
    yield watched
    watched.bus.stopService()


def publish(database: Database, *names: str) -> None:
    store = postgres_store(database, inline, Briefs())
    run_sync(store.publish("a", [entry(name) for name in names]))


def test_wakes_once_at_the_start_for_earlier_writes(watched: Watched, database: Database) -> None:
    publish(database, "x/1")
    assert watched.woken == []
    watched.bus.startService()
    assert len(watched.woken) == 1
    watched.clock.advance(0.25)
    assert len(watched.woken) == 1


def test_wakes_when_keys_may_have_ended(watched: Watched, database: Database) -> None:
    watched.bus.startService()
    run_sync(database.run("UPDATE pulse SET keys = keys + 1"))
    generation = watched.pulse.generation
    watched.clock.advance(0.25)
    assert len(watched.woken) == 2
    assert watched.pulse.generation == generation + 1


def test_keeps_the_pulse_fresh(watched: Watched) -> None:
    assert not watched.pulse.is_fresh
    watched.bus.startService()
    for _ in range(8):
        watched.clock.advance(0.25)
        assert watched.pulse.is_fresh
    watched.bus.stopService()
    watched.clock.advance(1.0)
    assert not watched.pulse.is_fresh


@pytest.mark.parametrize(
    "loss",
    [
        "DELETE FROM change WHERE seq = 2",
        "UPDATE change SET mark = mark + 1 WHERE seq = 2",
        "UPDATE change SET mark = mark + 1 WHERE seq = 2; INSERT INTO change SELECT 3, kind, mcp_id, 3 FROM change"
        " WHERE seq = 2",
        "DELETE FROM change",
    ],
    ids=["shorter", "another", "another and longer", "empty"],
)
def test_a_log_that_went_back_is_reported_once(
    watched: Watched, database: Database, loss: str, logged_failures: list[LogEvent]
) -> None:
    publish(database, "x/1", "x/2")
    watched.bus.startService()
    watched.read()
    watched.clock.advance(0.25)
    assert watched.messages == []
    for statement in loss.split("; "):
        run_sync(database.run(statement))
    watched.clock.pump([0.25] * 4)
    assert len(watched.messages) == 1
    assert "change 2 of the log is gone or another one" in watched.messages[0]
    assert len(watched.woken) == 1
    assert len(logged_failures) == 1
    logged_failures.clear()


def test_a_change_that_was_read_after_the_last_poll_is_missed(
    watched: Watched, database: Database, logged_failures: list[LogEvent]
) -> None:
    publish(database, "x/1")
    watched.bus.startService()
    publish(database, "x/2")
    assert watched.read() == 2
    # The poll has seen change 1 only, and change 2 is another one now.
    run_sync(database.run("UPDATE change SET mark = mark + 1 WHERE seq = 2"))
    watched.clock.advance(0.25)
    assert len(watched.messages) == 1
    logged_failures.clear()


def test_a_change_that_was_polled_and_not_read_is_not_missed(watched: Watched, database: Database) -> None:
    publish(database, "x/1", "x/2")
    watched.bus.startService()
    assert watched.bus.head == 2
    run_sync(database.run("DELETE FROM change WHERE seq = 2"))
    watched.clock.advance(0.25)
    assert (watched.messages, watched.bus.head) == ([], 1)


@pytest.mark.parametrize("read", ["head", "current"])
def test_the_content_at_the_start_is_recorded(
    watched: Watched, database: Database, logged_failures: list[LogEvent], read: str
) -> None:
    publish(database, "x/1", "x/2")
    store = watched._store
    assert run_sync(store.head()) == 2 if read == "head" else run_sync(store.current("", 10))
    run_sync(database.run("UPDATE change SET mark = mark + 1 WHERE seq = 2"))
    watched.bus.startService()
    assert len(watched.messages) == 1
    logged_failures.clear()


def test_consecutive_failures_are_logged_once_and_polling_continues(
    watched: Watched, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    warnings: list[str] = []
    monkeypatch.setattr(watched.bus, "_log", Logger(observer=lambda event: warnings.append(formatEvent(event))))  # type: ignore[arg-type]
    watched.bus.startService()
    run = watched.database.run

    async def unavailable(*_: object, **__: object) -> Sequence[Row]:
        raise Unavailable("The database is away.")

    for failures in (1, 2):
        monkeypatch.setattr(watched.database, "run", unavailable)
        publish(database, f"x/{failures}")
        watched.clock.pump([0.25] * 3)
        assert len(watched.woken) == failures
        assert len(warnings) == failures
        monkeypatch.setattr(watched.database, "run", run)
        watched.clock.advance(0.25)
        assert len(watched.woken) == failures + 1


def test_one_statement_at_a_time_asks_for_all_notifications(database: Database) -> None:
    clock = Clock()
    asked: list[Deferred[Sequence[Row]]] = []

    class Recorded:
        async def run(self, statement: str, *parameters: object, **_: object) -> Sequence[Row]:
            asked.append(Deferred())
            return await asked[-1]

    bus = PostgresBus(Recorded(), Pulse(database, clock.seconds), LastRead(), clock, pytest.fail)
    bus.startService()
    for _ in range(3):
        bus.notified()
    assert len(asked) == 1
    asked[0].callback([(0, 0, None, 0.0)])
    assert len(asked) == 2
    asked[1].callback([(0, 0, None, 0.0)])
    assert len(asked) == 2
    bus.stopService()
    bus.notified()
    assert len(asked) == 2


@pytest.mark.parametrize(
    ("payloads", "head", "polls", "wakes"),
    [
        (["change 8"], 8, 0, 1),
        (["change 8", "change 9"], 9, 0, 1),
        (["change 7"], 7, 0, 0),
        (["keys 4 abc"], 7, 0, 1),
        (["keys 4 abc", "change 8"], 8, 0, 1),
        (["keys 3 abc"], 7, 0, 0),
        # A notification before these was missed.
        (["keys 5 abc"], 7, 1, 0),
        (["change 8", "keys 5 abc"], 8, 1, 1),
        # Of other software.
        ([""], 7, 1, 0),
        (["change"], 7, 1, 0),
        (["keys 4 abc\n"], 7, 1, 0),
        (["change " + "9" * 30], 7, 1, 0),
    ],
)
def test_asks_the_database_only_if_notifications_do_not_say_what_has_moved(
    database: Database, payloads: list[str], head: int, polls: int, wakes: int
) -> None:
    clock = Clock()
    asked: list[Deferred[Sequence[Row]]] = []
    woken: list[None] = []

    class Recorded:
        async def run(self, statement: str, *parameters: object, **_: object) -> Sequence[Row]:
            asked.append(Deferred())
            return await asked[-1]

    bus = PostgresBus(Recorded(), Pulse(database, clock.seconds), LastRead(), clock, pytest.fail)
    bus.subscribe(lambda: woken.append(None))
    bus.startService()
    # Before the first answer nothing is known to compare with.
    bus.notified(["change 6"])
    asked[0].callback([(7, 3, None, 0.0)])
    asked[1].callback([(7, 3, None, 0.0)])
    assert len(woken) == 1
    bus.notified(payloads)
    assert (bus.head, len(asked) - 2, len(woken) - 1) == (head, polls, wakes)
    bus.stopService()


@awaited
async def test_a_notification_wakes_before_the_poll(
    open_session: OpenSession, open_database: Callable[..., Database]
) -> None:
    from twisted.internet import reactor

    clock = Clock()
    database = open_database()
    woken: list[None] = []
    buses: list[PostgresBus] = []
    session = open_session(notified=lambda payloads: buses[0].notified(payloads))
    bus = PostgresBus(session, Pulse(database, clock.seconds), LastRead(), clock, pytest.fail)
    buses.append(bus)
    bus.subscribe(lambda: woken.append(None))
    bus.startService()
    await session.run("SELECT 1")
    for count in (1, 2):
        while len(woken) < count:
            await deferLater(reactor, 0.005)
        await postgres_store(database, inline, Briefs()).publish("a", [entry(f"x/{count}")])
    # The clock of the bus stands still, so no poll was due.
    while len(woken) < 3:
        await deferLater(reactor, 0.005)
    bus.stopService()
