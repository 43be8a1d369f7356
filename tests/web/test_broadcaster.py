"""Broadcaster: in any interleaving, each stream gets each change once and in order."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence, Set
from contextlib import contextmanager
from typing import Any, ParamSpec, TypeVar, cast

import pytest
from attrs import define, field
from hypothesis import example, given, settings
from hypothesis import strategies as st
from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.internet.testing import StringTransport

from directory_server.domain.changes import Change
from directory_server.domain.entries import Entry
from directory_server.search import TextAnalysis
from directory_server.serialization import encode_entry, restore_entry
from directory_server.streams import Channel, Stream, _channel
from directory_server.web.changes import Broadcaster, LogPages, Watch

P = ParamSpec("P")
T = TypeVar("T")

LOG = "0c9f1e22ab34"

WORDS = ("", "a", "b", "ab")
"""Descriptions of the changed entries; None is a removal."""

OPERATIONS = st.one_of(
    st.tuples(st.just("publish"), st.lists(st.sampled_from([*WORDS, None]), min_size=1, max_size=7)),
    st.tuples(st.just("pump")),
    st.tuples(st.just("open"), st.none() | st.floats(0, 1), st.sampled_from([None, "a", "b"])),
    st.tuples(st.just("resolve"), st.integers(0, 5)),
    st.tuples(st.just("turn")),
    st.tuples(st.just("pause"), st.integers(0, 5)),
    st.tuples(st.just("resume"), st.integers(0, 5)),
    st.tuples(st.just("close"), st.integers(0, 5)),
)


def matching(change: Change, queries: Collection[str]) -> Set[str]:
    return {query for query in queries if change.body is not None and query in restore_entry(change.body).brief}


@define(eq=False)
class Client:
    """A client of the change feed."""

    since: int
    keywords: str | None
    stream: Any
    transport: Any
    closed: bool = False

    @property
    def received(self) -> list[int]:
        """The numbers of the received changes."""
        return [int(seq) for seq in re.findall(rb"id: (\d+)-0c9f1e22ab34\nevent", self.transport.value())]

    def matches(self, change: Change) -> bool:
        passes = self.keywords is None or change.kind == "removed" or bool(matching(change, [self.keywords]))
        return change.seq > self.since and passes


@define(eq=False)
class Simulation:
    """A change log, a broadcaster and clients. Each asynchronous call waits until `do_resolve`."""

    clock: Clock = field(factory=Clock)
    log: list[Change] = field(factory=list)
    clients: list[Client] = field(factory=list)
    waiting: list[Deferred[None]] = field(factory=list)
    pump: Deferred[None] | None = None
    broadcaster: Any = field(init=False)
    _batches: Any = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._batches = _channel.BatchRunner(self.clock)
        pages = LogPages(cast(Any, self), matching, self.offload, LOG)
        self.broadcaster = Broadcaster(cast(Any, self), pages, matching, self.offload, LOG)

    # The hub's methods.

    stall = 30.0

    def seconds(self) -> float:
        return self.clock.seconds()

    def channel(self) -> Any:
        return Channel(self._batches)

    def release(self, _: Any) -> None: ...

    # The directory's and the offload's methods.

    def within(self, scope: object) -> Simulation:
        return self

    async def changes(self, after: int, limit: int) -> Sequence[Change]:
        await self.wait()
        return self.log[after : after + limit]

    async def offload(self, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        await self.wait()
        return function(*args, **kwargs)

    async def wait(self) -> None:
        self.waiting.append(Deferred())
        await self.waiting[-1]

    # The operations.

    def do_publish(self, descriptions: Sequence[str | None]) -> None:
        for text in descriptions:
            seq = len(self.log) + 1
            entry = None if text is None else Entry({"name": f"x/{seq}", "version": "1", "description": text})
            analysed = None if entry is None else TextAnalysis()(entry)
            body = None if entry is None else encode_entry(entry)
            self.log.append(Change(seq, "removed" if entry is None else "added", f"{seq}", body, analysed))

    def do_pump(self) -> None:
        if self.pump is None:
            self.apply(self.log[self.broadcaster.seq :])

    def apply(self, changes: Sequence[Change]) -> None:
        """Pass `changes` to the broadcaster, also if it had them before."""
        self.pump = Deferred.fromCoroutine(self.broadcaster.apply(changes))
        self.pump.addCallback(self._pumped)

    def _pumped(self, _: object) -> None:
        self.pump = None

    def do_open(self, fraction: float | None, keywords: str | None) -> None:
        """Open a stream from a fraction of the log, or, with None, from now on."""
        stream, transport = Stream(cast(Any, self), "key", b"", 99), StringTransport()
        stream.makeConnection(cast(Any, transport))
        since = self.broadcaster.seq if fraction is None else round(fraction * len(self.log))
        self.clients.append(Client(since, keywords, stream, transport))
        self.broadcaster.follow(stream, self.clients[-1].since, Watch(keywords))

    def do_resolve(self, number: int) -> None:
        if self.waiting:
            self.waiting.pop(number % len(self.waiting)).callback(None)

    def do_turn(self) -> None:
        self.clock.advance(0)

    def do_pause(self, number: int) -> None:
        for client in self._open_client(number):
            client.stream.pauseProducing()

    def do_resume(self, number: int) -> None:
        for client in self._open_client(number):
            client.stream.resumeProducing()

    def do_close(self, number: int) -> None:
        for client in self._open_client(number):
            client.closed = True
            client.stream.end()

    def _open_client(self, number: int) -> Sequence[Client]:
        open_clients = [client for client in self.clients if not client.closed]
        return [open_clients[number % len(open_clients)]] if open_clients else []

    def finish(self) -> None:
        """Resume all streams, and run until no call waits and all changes are delivered."""
        for client in self.clients:
            if not client.closed:
                client.stream.resumeProducing()
        for _ in range(10_000):
            if self.broadcaster.seq < len(self.log):
                self.do_pump()
            if not self.waiting and not self.clock.getDelayedCalls():
                break
            self.do_resolve(0)
            self.clock.advance(0)
        assert not self.waiting
        assert self.broadcaster.seq == len(self.log)


@contextmanager
def small_limits() -> Iterator[None]:
    """Make pages and bursts small, so that all branches run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("directory_server.web.changes._log_pages.PAGE_SIZE", 3)
        patch.setattr("directory_server.web.changes._log_pages.CACHED_PAGES", 2)
        patch.setattr("directory_server.web.changes._broadcaster.BURST_BYTES", 600)
        yield


# A stream with other keywords opens while events are encoded.
@example([("open", None, None), ("publish", ["a"]), ("pump",), ("open", None, "a")])
# The log is ahead of the feed when a stream reads it.
@example([("publish", ["a"]), ("pump",), ("publish", ["a"]), ("open", 0.0, None), ("resolve", 0), ("resolve", 0)])
@pytest.mark.slow
@given(st.lists(OPERATIONS, min_size=10, max_size=60))
@settings(max_examples=100)
def test_each_stream_gets_each_change_once_and_in_order(operations: list[tuple[Any, ...]]) -> None:
    with small_limits():
        simulation = Simulation()
        for name, *arguments in operations:
            getattr(simulation, f"do_{name}")(*arguments)
            # A sent change is already in the index.
            assert all(client.received[-1:] <= [simulation.broadcaster.seq] for client in simulation.clients)
        simulation.finish()
    for client in simulation.clients:
        expected = [change.seq for change in simulation.log if client.matches(change)]
        assert client.received == (expected[: len(client.received)] if client.closed else expected)


@given(st.integers(2, 5), st.integers(1, 20))
def test_a_page_is_read_once_for_many_streams(clients: int, missed: int) -> None:
    simulation = Simulation()
    simulation.do_publish(["a"] * missed)
    simulation.broadcaster.begin(missed)
    for _ in range(clients):
        simulation.do_open(0.0, None)
    assert len(simulation.waiting) == 1
    simulation.finish()
    assert [client.received for client in simulation.clients] == [list(range(1, missed + 1))] * clients


def test_repeated_changes_are_sent_once() -> None:
    simulation = Simulation()
    simulation.do_open(0.0, None)
    simulation.do_publish(["a", "b"])
    for changes in (simulation.log[:1], simulation.log, simulation.log):
        simulation.apply(changes)
        simulation.finish()
    assert simulation.clients[0].received == [1, 2]


def test_a_failed_read_ends_all_waiting_streams(logged_failures: list[Any]) -> None:
    simulation = Simulation()
    simulation.do_publish(["a"])
    simulation.broadcaster.begin(1)
    simulation.do_open(0.0, None)
    simulation.do_open(0.0, None)
    simulation.waiting.pop().errback(RuntimeError("a full disk"))
    assert [client.transport.disconnecting for client in simulation.clients] == [True, True]
    assert [event["log_failure"].value.args for event in logged_failures] == [("a full disk",)] * 2
    logged_failures.clear()
    simulation.do_open(0.0, None)
    simulation.finish()
    assert simulation.clients[-1].received == [1]


def test_a_failed_read_is_ignored_for_a_closed_stream() -> None:
    simulation = Simulation()
    simulation.do_publish(["a"])
    simulation.broadcaster.begin(1)
    simulation.do_open(0.0, None)
    simulation.do_close(0)
    # Nothing is logged.
    simulation.waiting.pop().errback(RuntimeError("closed"))
