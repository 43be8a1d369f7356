"""A receiver of messages, and processes that send to it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from attrs import define, field, frozen
from twisted.internet.defer import Deferred
from twisted.internet.task import Clock

from directory_server.domain.entries import Entry
from directory_server.domain.ports.storage import Store
from directory_server.features.webhooks.dispatcher import INTERVAL, Dispatcher
from directory_server.features.webhooks.rules import Delivery, Message, Sent, Webhook, new_webhook
from directory_server.features.webhooks.tables import Webhooks
from directory_server.runtime.run_sync import inline, run_sync
from directory_server.search import percolate
from directory_server.tables import StoredFollowers, Tables

from ...tables.conftest import open_store

NOW = 1_800_000_000.0
SERVER_SECRET = b"s" * 32


def entry(name: str, version: str = "1.0.0", **official: Any) -> Entry:
    meta = {"io.modelcontextprotocol.registry/official": official} if official else {}
    return Entry({"name": name, "version": version, "description": "Reads mail."}, meta)


def webhook(url: str = "https://a.example/", *, now: float = NOW, seq: int = 0, **options: Any) -> Webhook:
    values = {"kinds": (), "namespaces": (), "keywords": "", **options}
    return new_webhook("A receiver.", url, now=now, seq=seq, allows_http=False, **values)


@define(eq=False)
class StubSender:
    """Records messages by URL. `answers` has the status for each URL, 200 by default; None never answers."""

    now: Callable[[], float]
    answers: dict[str, int | None] = field(factory=dict)
    retry_after: float = 0.0
    sent: dict[str, list[Message]] = field(factory=dict)
    keys: list[Sequence[str]] = field(factory=list)

    async def send(self, url: str, keys: Sequence[str], message: Message) -> Sent:
        self.sent.setdefault(url, []).append(message)
        self.keys.append(keys)
        status = self.answers.get(url, 200)
        if status is None:
            await Deferred[None]()
        error = "" if status == 200 else f"It answered {status}."
        return Sent(
            Delivery(self.now(), message.id, message.seq, message.changes, status or 0, error, 0.1), self.retry_after
        )

    def stop(self) -> None:
        pass


@frozen(eq=False)
class Process:
    """A process that sends."""

    dispatcher: Dispatcher
    clock: Clock
    sender: StubSender
    counts: list[bool]

    def run(self, seconds: float = INTERVAL) -> None:
        """Let time pass, in larger steps if it is long."""
        step = INTERVAL if seconds < 100 else 600.0 if seconds > 10_000 else 60.0
        for _ in range(max(1, round(seconds / step))):
            self.clock.advance(step)

    def kinds(self, url: str = "https://a.example/") -> list[tuple[str, tuple[str, ...]]]:
        """Return the name and the kinds of each change that a receiver got."""
        return [(item["name"], item["kinds"]) for message in self.messages(url) for item in items(message)]

    def messages(self, url: str = "https://a.example/") -> list[Message]:
        return self.sender.sent.get(url, [])


def items(message: Message) -> list[Any]:
    data: Any = message.data
    return list(data.get("changes", []))


@frozen(eq=False)
class Directory:
    """A directory with webhooks, and the processes that use it."""

    open_tables: Callable[[], Tables]
    clock: Clock
    store: Store
    webhooks: Webhooks
    tables: Tables
    processes: list[Process] = field(factory=list)

    @classmethod
    def of(cls, open_tables: Callable[[], Tables], clock: Clock) -> Directory:
        tables = open_tables()
        return cls(open_tables, clock, open_store(tables), Webhooks(tables, SERVER_SECRET), tables)

    def start(self, sender: StubSender | None = None) -> Process:
        tables, counts = self.open_tables(), list[bool]()
        sender = sender or StubSender(self.clock.seconds)
        webhooks = Webhooks(tables, SERVER_SECRET)

        async def opened() -> Webhooks:
            return webhooks

        dispatcher = Dispatcher(
            lambda: Deferred.fromCoroutine(opened()),
            open_store(tables),
            StoredFollowers(tables, self.clock.seconds),
            lambda: sender,  # type: ignore[arg-type, return-value]
            percolate,
            inline,
            self.clock,
            self.clock.seconds,
            counts.append,
        )
        self.processes.append(Process(dispatcher, self.clock, sender, counts))
        dispatcher.startService()
        return self.processes[-1]

    def add(self, url: str = "https://a.example/", **options: Any) -> Webhook:
        added = webhook(url, now=self.clock.seconds(), seq=run_sync(self.store.head()), **options)
        run_sync(self.webhooks.add(added))
        return added

    def publish(self, *entries: Entry) -> None:
        run_sync(self.store.publish("local", entries))

    def state(self, of: Webhook) -> Webhook:
        return run_sync(self.webhooks.find(of.id))
