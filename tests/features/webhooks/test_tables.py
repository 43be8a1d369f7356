"""Webhooks in both databases: secrets, the log, and the state."""

from __future__ import annotations

import pytest
from attrs import evolve

from directory_server.domain.errors import BadInput, NotFound
from directory_server.features.webhooks import tables as tables_module
from directory_server.features.webhooks.rules import Delivery
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
    stored = await webhooks.find(added.id)
    assert stored == evolve(added, log=stored.log)
    assert stored.log
    assert list(await webhooks.list()) == [stored]
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
async def test_attempts_change_the_state(tables: Tables) -> None:
    webhooks, added = Webhooks(tables, SERVER_SECRET), webhook()
    await webhooks.add(added)
    assert await webhooks.begin(added, 3)
    # A message that is being sent ends with the same change.
    assert not await webhooks.begin(added, 4)
    assert await webhooks.begin(added, 3)
    for at in (NOW, NOW + 10):
        assert await webhooks.record(added, evolve(delivery(3, 500, "It fails."), at=at), at + 60)
    # By the clock of the database, these attempts are in the future.
    assert await count_paused(tables) == 0
    await tables.run("UPDATE webhook SET failing_since = failing_since - 900000000.0")
    assert await count_paused(tables) == 1
    await tables.run("UPDATE webhook SET failing_since = failing_since + 900000000.0")
    failing = await webhooks.find(added.id)
    assert (failing.failures, failing.failing_since, failing.next_at) == (2, NOW, NOW + 70)
    assert (failing.pending, failing.seq, failing.error) == (3, 0, "It fails.")
    assert await webhooks.record(added, delivery(3), 0.0)
    active = await webhooks.find(added.id)
    assert active == evolve(added, seq=3, delivered_at=NOW, log=active.log)
    assert [each.status for each in await webhooks.deliveries(added.id)] == [200, 500, 500]


@awaited
async def test_nothing_is_written_once_another_process_has_sent(tables: Tables) -> None:
    webhooks, added = Webhooks(tables, SERVER_SECRET), webhook()
    await webhooks.add(added)
    assert await webhooks.skip(added, 5)
    assert not await webhooks.skip(added, 4)
    assert not await webhooks.begin(added, 6)
    assert not await webhooks.reset(added, "log", 9)
    assert not await webhooks.record(added, delivery(3), 0.0)
    assert not await webhooks.record(added, delivery(3, 500, "It fails."), NOW)
    assert (await webhooks.find(added.id)).seq == 5
    assert list(await webhooks.deliveries(added.id)) == []
