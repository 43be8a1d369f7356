"""Webhooks in both databases: secrets, the log, and the lease."""

from __future__ import annotations

import pytest
from attrs import evolve

from directory_server.domain.errors import BadInput, NotFound
from directory_server.features.webhooks import tables as tables_module
from directory_server.features.webhooks.queue import KnownEntry, WebhookQueue
from directory_server.features.webhooks.rules import Delivery, WebhookChange
from directory_server.features.webhooks.tables import Webhooks, count_paused
from directory_server.tables import Tables

from ...contract import awaited
from .stubs import NOW, SERVER_SECRET, webhook


def delivery(seq: int = 1, status: int = 200, error: str = "") -> Delivery:
    return Delivery(NOW, f"msg_{seq}", seq, 1, status, error, 0.5)


@awaited
async def test_a_webhook_is_stored_and_removed(tables: Tables) -> None:
    webhooks = Webhooks(tables, SERVER_SECRET)
    added = webhook(kinds=("deleted",), namespaces=("a/*", "b/*"), keywords="mail -news", seq=7)
    await webhooks.add(added)
    assert list(await webhooks.list()) == [added]
    assert await webhooks.find(added.id) == added
    await webhooks.remove(added.id)
    for unknown in (added.id, "\0", "\udc80"):
        with pytest.raises(NotFound):
            await webhooks.find(unknown)
        with pytest.raises(NotFound):
            await webhooks.remove(unknown)
        with pytest.raises(NotFound):
            await webhooks.rotate(unknown, NOW)


@awaited
async def test_the_number_is_bounded(tables: Tables, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables_module, "MAX_WEBHOOKS", 2)
    webhooks = Webhooks(tables, SERVER_SECRET)
    await webhooks.add(webhook())
    await webhooks.add(webhook())
    with pytest.raises(BadInput, match="at most 2"):
        await webhooks.add(webhook())


@awaited
async def test_the_previous_secret_signs_for_a_day(tables: Tables) -> None:
    webhooks = Webhooks(tables, SERVER_SECRET)
    added = webhook()
    first = await webhooks.add(added)
    assert await webhooks.secrets(added.id, NOW) == [first]
    second = await webhooks.rotate(added.id, NOW)
    assert await webhooks.secrets(added.id, NOW + 86_399) == [second, first]
    assert await webhooks.secrets(added.id, NOW + 86_400) == [second]


@awaited
async def test_secrets_are_encrypted_with_the_secret_of_the_server(tables: Tables) -> None:
    webhooks, added = Webhooks(tables, SERVER_SECRET), webhook()
    secret = await webhooks.add(added)
    row = await tables.one("SELECT salt, sealed FROM webhook")
    assert secret.encode() not in b"".join(map(bytes, row))
    assert await Webhooks(tables, b"o" * 32).secrets(added.id, NOW) == []


@awaited
async def test_the_last_attempts_are_stored(tables: Tables, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables_module, "MAX_DELIVERIES", 2)
    webhooks, one, other = Webhooks(tables, SERVER_SECRET), webhook(), webhook()
    for each in (one, other):
        await webhooks.add(each)
        for seq in range(4):
            await webhooks.log(each.id, delivery(seq))
    assert [each.seq for each in await webhooks.deliveries(one.id)] == [3, 2]
    assert [each.seq for each in await webhooks.deliveries(other.id, 1)] == [3]
    await webhooks.remove(one.id)
    await webhooks.log(one.id, delivery())
    assert list(await webhooks.deliveries(one.id)) == []


@awaited
async def test_only_the_holder_of_the_lease_writes(tables: Tables) -> None:
    webhooks, queue, added = Webhooks(tables, SERVER_SECRET), WebhookQueue(tables), webhook()
    await webhooks.add(added)
    assert await queue.hold("one", seconds=60)
    assert not await queue.hold("two", seconds=60)
    known = KnownEntry("1", "a/b", b"d", b"", "active")
    change = WebhookChange(3, "a/b", ("changed", "deprecated"))
    assert not await queue.advance("two", "log", 5, changes=[change])
    assert not await queue.keep("two", [known])
    assert not await queue.reset("two", "log", 5)
    assert not await queue.skip("two", added.id, 3)
    assert not await queue.delivered("two", added.id, delivery(3))
    assert not await queue.failed("two", added.id, delivery(3), NOW)
    assert (await queue.reader()).seq == 0
    assert await queue.keep("one", [known])
    assert await queue.advance("one", "log", 5, changes=[change])
    reader = await queue.reader()
    assert (reader.log, reader.seq, reader.is_complete, reader.holder, reader.is_held, reader.last) == (
        *("log", 5, True, "one", True),
        3,
    )
    assert list(await queue.changes(2, 10)) == [change]
    assert list(await queue.changes(2, 10, 2)) == []
    assert await queue.known(["1", "2"]) == {"1": known}
    await queue.release("one")
    assert await queue.hold("two", seconds=60)


@awaited
async def test_attempts_change_the_state(tables: Tables) -> None:
    webhooks, queue, added = Webhooks(tables, SERVER_SECRET), WebhookQueue(tables), webhook()
    await webhooks.add(added)
    await queue.hold("one", seconds=60)
    assert await queue.begin("one", added.id, 3)
    assert not await queue.begin("two", added.id, 4)
    for at in (NOW, NOW + 10):
        assert await queue.failed("one", added.id, evolve(delivery(3, 500, "It fails."), at=at), at + 60)
    # By the clock of the database, these attempts are in the future.
    assert await count_paused(tables) == 0
    await tables.run("UPDATE webhook SET failing_since = failing_since - 900000000.0")
    assert await count_paused(tables) == 1
    await tables.run("UPDATE webhook SET failing_since = failing_since + 900000000.0")
    failing = await webhooks.find(added.id)
    assert (failing.failures, failing.failing_since, failing.next_at) == (2, NOW, NOW + 70)
    assert (failing.pending, failing.seq, failing.error) == (3, 0, "It fails.")
    assert await queue.delivered("one", added.id, delivery(3))
    active = await webhooks.find(added.id)
    assert active == evolve(added, seq=3, delivered_at=NOW)
    assert [each.status for each in await webhooks.deliveries(added.id)] == [200, 500, 500]


@awaited
async def test_changes_that_all_have_received_are_deleted(tables: Tables) -> None:
    webhooks, queue = Webhooks(tables, SERVER_SECRET), WebhookQueue(tables)
    slow, fast = webhook(), webhook(seq=8)
    await webhooks.add(slow)
    await webhooks.add(fast)
    await queue.hold("one", seconds=60)
    changes = [WebhookChange(seq, "a/b", ("changed",)) for seq in range(1, 11)]
    await queue.advance("one", "log", 10, changes=changes)
    await queue.skip("one", slow.id, 4)
    await queue.prune()
    assert [each.seq for each in await queue.changes(0, 100)] == [5, 6, 7, 8, 9, 10]
    # The slow one loses what exceeds the limit, and is told.
    await queue.prune(3)
    assert [each.seq for each in await queue.changes(0, 100)] == [8, 9, 10]
    assert [(each.was_reset, each.seq) for each in (await webhooks.find(slow.id), await webhooks.find(fast.id))] == [
        (True, 7),
        (False, 8),
    ]


@awaited
async def test_without_webhooks_nothing_is_known(tables: Tables) -> None:
    webhooks, queue, added = Webhooks(tables, SERVER_SECRET), WebhookQueue(tables), webhook()
    await webhooks.add(added)
    await queue.hold("one", seconds=60)
    await queue.advance("one", "log", 5, entries=[KnownEntry("1", "a/b", b"d", b"", "active")])
    await webhooks.remove(added.id)
    assert await queue.known(["1"]) == {}
    assert not (await queue.reader()).log
