"""The audit log on both databases: one chain of all processes, checkpoints, and what a verification finds."""

from __future__ import annotations

import hmac
from collections.abc import Sequence
from pathlib import Path

import pytest
from attrs import evolve

from directory_server.domain.audit import DONE, Actor, AuditEvent
from directory_server.features.audit.chain import GENESIS, AuditRecord, Verified, hash_of, verify
from directory_server.features.audit.head_file import HeadKeeper, read_head
from directory_server.features.audit.settings import UPKEEP
from directory_server.features.audit.tables import ABANDONED, DELETED, AuditLog
from directory_server.runtime.run_sync import inline

from ...contract import at_once, awaited
from ...tables.conftest import TablesTest

ANN = Actor("account", "id-1", "ann@example.org", network="192.0.2.0/24")
LIMIT = AuditEvent(
    1_000.123, ANN, "POST /admin/keys/{key_id}/limit", "key_id=k1", '{"limit":20}', '{"limit":50}', "r-1", DONE
)
KEY = b"k" * 32

DAY = 86_400.0

ATTACKS = [
    ["DELETE FROM audit", "DELETE FROM audit_checkpoint"],
    ["DELETE FROM audit"],
    ["DELETE FROM audit WHERE number > 6", "DELETE FROM audit_checkpoint WHERE number > 6"],
    ["DELETE FROM audit WHERE number > 10", "DELETE FROM audit_checkpoint WHERE number > 8"],
    ["DELETE FROM audit WHERE number > 10"],
    ["DELETE FROM audit WHERE number = 12"],
    ["DELETE FROM audit_checkpoint"],
    ["DELETE FROM audit_checkpoint WHERE number > 4"],
]
"""What somebody without the key can do with twelve records and five checkpoints, the last one of record 10."""


FORGED_BASE = (
    "INSERT INTO audit_checkpoint (number, hash, is_base, signature, at) VALUES (900, '{}', {}, '', 9999999999)"
)

FORGED = [
    ["DELETE FROM audit", "DELETE FROM audit_checkpoint", FORGED_BASE.format("a" * 64, "TRUE")],
    ["DELETE FROM audit WHERE number > 4", "DELETE FROM audit_checkpoint", FORGED_BASE.format("a" * 64, "TRUE")],
    ["UPDATE audit SET at = 1"],
    ["UPDATE audit SET number = number + 5000 WHERE number > 6"],
    ["UPDATE audit SET number = number + 5000"],
]
"""What somebody without the key does, so that the server deletes and signs the rest."""


async def records_of(log: AuditLog) -> Sequence[AuditRecord]:
    return await log.read(0)


async def verified(log: AuditLog, key: bytes = KEY) -> Verified:
    return verify(await records_of(log), await log.checkpoints(), key)


class TestAuditLog(TablesTest):
    def log(self) -> AuditLog:
        return AuditLog(self.open_tables())

    @awaited
    async def test_a_record_has_all_fields_and_the_hash_of_the_previous_one(self) -> None:
        log = self.log()
        await log.add(LIMIT)
        await log.add(evolve(LIMIT, outcome="own_key"))
        first, second = await records_of(log)
        assert (first.number, first.event, first.hash) == (1, LIMIT, hash_of(1, LIMIT, GENESIS))
        assert second.hash == hash_of(2, evolve(LIMIT, outcome="own_key"), first.hash)
        assert (await verified(log)).problems == []

    @awaited
    async def test_the_chain_of_several_processes_is_linear(self) -> None:
        logs = [self.log() for _ in range(4)]
        events = [evolve(LIMIT, request_id=f"r-{number}") for number in range(20)]

        async def add(log: AuditLog, own: Sequence[AuditEvent]) -> None:
            for event in own:
                await log.add(event)

        await at_once(*(add(log, events[number::4]) for number, log in enumerate(logs)))
        records = await records_of(logs[0])
        assert [record.number for record in records] == [*range(1, 21)]
        assert {record.event.request_id for record in records} == {event.request_id for event in events}
        assert (await verified(logs[1])).problems == []

    @awaited
    async def test_an_action_that_was_begun_is_recorded_once(self) -> None:
        log = self.log()
        begun = await log.begin(LIMIT)
        assert await records_of(log) == []
        await log.add(LIMIT, begun=begun)
        assert await log.finish_abandoned(LIMIT.at + 2 * ABANDONED) == 0
        assert len(await records_of(log)) == 1

    @awaited
    async def test_an_action_whose_process_ended_has_an_unknown_outcome(self) -> None:
        log = self.log()
        await log.begin(evolve(LIMIT, outcome=""))
        assert await self.log().finish_abandoned(LIMIT.at + ABANDONED) == 0
        assert await self.log().finish_abandoned(LIMIT.at + ABANDONED + 1) == 1
        assert await log.finish_abandoned(LIMIT.at + ABANDONED + 1) == 0
        [record] = await records_of(log)
        assert record.event == evolve(LIMIT, outcome="unknown")
        assert (await verified(log)).problems == []

    @awaited
    async def test_old_records_are_deleted_and_the_chain_goes_on(self) -> None:
        log = self.log()
        await log.add(*(evolve(LIMIT, at=float(number)) for number in range(1, 8)))
        await log.forget(14.0, 10.0, 1_000, KEY)
        assert [record.event.at for record in await records_of(log)] == [4.0, 5.0, 6.0, 7.0, 14.0]
        await log.forget(14.0, 100.0, 2, KEY)
        result = await verified(log)
        assert (result.first, result.last, result.problems) == (7, 9, [])
        assert [each.event.target for each in await log.newest(9, text=DELETED)] == ["4 to 6", "1 to 3"]
        assert (await log.checkpoints())[0].is_signed(KEY)
        await log.add(LIMIT)
        assert (await verified(log)).problems == []

    @pytest.mark.parametrize(
        ("times", "deleted"),
        [
            ([1.0, 2.0, 95.0, 3.0, 99.0], 2),
            ([95.0, 1.0, 2.0], 0),
            ([1.0, 9_999.0, 2.0, 95.0], 3),
            ([9_999.0, 1.0, 95.0], 2),
            ([9_999.0, 8_888.0], 0),
            ([1.0, 2.0, 3.0], 3),
            ([89.9, 90.0, 95.0], 0),
            ([89.0, 89.95, 90.0, 100.0], 2),
            ([100.0], 0),
            ([], 0),
        ],
    )
    @awaited
    async def test_the_unbroken_run_of_old_records_is_deleted(self, times: Sequence[float], deleted: int) -> None:
        log = self.log()
        await log.add(*(evolve(LIMIT, at=at) for at in times))
        await log.forget(100.0, 10.0, 1_000, KEY)
        kept = [record.event.at for record in await records_of(log) if record.event.action != DELETED]
        assert kept == times[deleted:]
        assert (await verified(log)).problems == []
        # Somebody has emptied a log with more records than are kept.
        await log.add(LIMIT, LIMIT, LIMIT)
        await log.check(100.0, KEY)
        await self.open_tables().run("DELETE FROM audit")
        await log.forget(100.0, 10.0, 1, KEY)
        assert await records_of(log) == []

    @pytest.mark.parametrize("ahead", [400.0, 40_000.0])
    @awaited
    async def test_a_wrong_clock_deletes_a_small_part(self, ahead: float) -> None:
        log, now = self.log(), 50_000 * DAY
        await log.add(*(evolve(LIMIT, at=now - 1_000 + number) for number in range(500)))
        # The clock of one machine is behind: a record in the middle has an old time.
        await log.add(evolve(LIMIT, at=now - ahead * DAY))
        await log.forget(now, 365 * DAY, 10_000, KEY)
        assert len(await records_of(log)) == 501
        # It is ahead: all records seem old.
        await log.forget(now + ahead * DAY, 365 * DAY, 10_000, KEY)
        records = await records_of(log)
        assert (records[0].number, len(records)) == (7, 501 - 6 + 1)
        assert (records[-1].event.action, records[-1].event.at) == (DELETED, now + ahead * DAY)
        await log.forget(now, 365 * DAY, 10_000, KEY)
        assert await records_of(log) == records
        assert (await verified(log)).problems == []

    @awaited
    async def test_few_deletions_are_recorded_of_a_log_that_grows(self) -> None:
        log, keep = self.log(), 180 * UPKEEP
        for number in range(500):
            now = number * UPKEEP
            await log.add(*[evolve(LIMIT, at=now)] * 3)
            await log.forget(now, keep, 10_000, KEY)
            if number <= 180:
                assert (await log.newest(1))[0].number == 3 * (number + 1)
        records = await records_of(log)
        assert keep <= now - records[0].event.at <= 1.03 * keep
        assert sum(record.event.action == DELETED for record in records) <= 200
        assert (await verified(log)).problems == []

    @awaited
    async def test_a_changed_record_is_found(self) -> None:
        log, tables = self.log(), self.open_tables()
        await log.add(*(evolve(LIMIT, at=float(number)) for number in range(1, 6)))
        await tables.run("UPDATE audit SET outcome = 'own_key' WHERE number = 3")
        assert (await verified(log)).problems == ["Record 3 was changed, or the one before it."]

    @awaited
    async def test_a_deleted_record_is_found(self) -> None:
        log, tables = self.log(), self.open_tables()
        await log.add(*(evolve(LIMIT, at=float(number)) for number in range(1, 6)))
        await tables.run("DELETE FROM audit WHERE number = 3")
        assert (await verified(log)).problems == ["Records are missing between 2 and 4."]
        await tables.run("DELETE FROM audit WHERE number < 3")
        assert (await verified(log)).problems == ["Records are missing between 0 and 4."]

    @awaited
    async def test_deleted_last_records_are_found_by_the_checkpoint(self) -> None:
        log, tables = self.log(), self.open_tables()
        await log.add(*(evolve(LIMIT, at=float(number)) for number in range(1, 6)))
        await log.check(1_000.0, KEY)
        await tables.run("DELETE FROM audit WHERE number > 3")
        assert (await verified(log)).problems == ["Records after 3 are missing: there was a record 5."]

    @awaited
    async def test_a_chain_that_was_computed_again_is_found_by_the_signature(self) -> None:
        log, tables = self.log(), self.open_tables()
        await log.add(LIMIT, LIMIT)
        await log.check(1_000.0, KEY)
        await log.check(1_000.0, KEY)
        forged = hash_of(2, evolve(LIMIT, outcome="forged"), (await records_of(log))[0].hash)
        await tables.run(f"UPDATE audit SET outcome = 'forged', hash = '{forged}' WHERE number = 2")
        assert (await verified(log)).problems == ["Record 2 is not the one of its checkpoint."]
        await tables.run(f"UPDATE audit_checkpoint SET hash = '{forged}'")
        [problem] = (await verified(log)).problems
        assert problem == "The checkpoint of record 2 is not signed with the key of audit.key_file."
        assert (await verified(log, b"")).problems == []

    @pytest.mark.parametrize("statements", ATTACKS)
    @awaited
    async def test_records_that_are_missing_at_the_end_are_found(self, statements: Sequence[str]) -> None:
        log, tables = self.log(), self.open_tables()
        now = 1_000_000.0
        for _ in range(5):
            await log.add(LIMIT, LIMIT)
            await log.check(now, KEY)
            now += UPKEEP
        await log.add(LIMIT, LIMIT)
        head = await log.head(now, KEY)
        kept = {"heads": [head], "now": now, "max_age": 2 * UPKEEP}
        assert verify(await records_of(log), await log.checkpoints(), KEY, **kept).problems == []  # type: ignore[arg-type]
        for statement in statements:
            await tables.run(statement)
        records, checkpoints = await records_of(log), await log.checkpoints()
        assert verify(records, checkpoints, KEY, **kept).problems  # type: ignore[arg-type]
        # Without the file the time shows what is older than two intervals.
        late = verify(records, checkpoints, KEY, now=now + 2 * UPKEEP, max_age=2 * UPKEEP)
        assert any("No checkpoint was signed" in problem for problem in late.problems)

    @pytest.mark.parametrize("statements", FORGED)
    @awaited
    async def test_a_server_does_not_sign_what_somebody_has_forged(
        self, statements: Sequence[str], tmp_path: Path
    ) -> None:
        log, tables, keeper = self.log(), self.open_tables(), HeadKeeper(tmp_path / "head", self.log(), KEY, inline)
        now = 1_000_000.0
        for _ in range(6):
            await log.add(*[evolve(LIMIT, at=now)] * 2)
            await log.check(now, KEY)
            await keeper.write(now)
        for statement in statements:
            await tables.run(statement)
        for _ in range(9):
            now += UPKEEP
            await keeper.write(now)
            await log.forget(now, 4 * UPKEEP, 1_000, KEY)
            await log.check(now, KEY)
            await log.add(evolve(LIMIT, at=now))
        head = read_head(tmp_path / "head")
        assert head is not None
        result = verify(await records_of(log), await log.checkpoints(), KEY, [head], now=now, max_age=2 * UPKEEP)
        assert result.problems
        # The forged records are evidence.
        assert await log.newest(9, text=DELETED) == []

    @awaited
    async def test_a_key_for_a_log_that_had_another_or_none_signs_what_is_there(self, tmp_path: Path) -> None:
        log = self.log()
        await log.add(*(evolve(LIMIT, at=float(number)) for number in range(1, 8)))
        await log.forget(14.0, 10.0, 1_000, b"")
        await log.check(14.0, b"")
        await log.add(LIMIT)
        await log.check(14.0, b"o" * 32)
        assert (await verified(log)).problems != []
        await HeadKeeper(tmp_path / "head", log, KEY, inline).write(14.0)
        assert (await verified(log)).problems == []
        await log.forget(30.0, 10.0, 1_000, KEY)
        assert (await verified(log)).problems == []

    @awaited
    async def test_a_checkpoint_has_the_time_of_its_last_signature(self) -> None:
        log, tables = self.log(), self.open_tables()
        # Of an empty log too: without any checkpoint all records are missing.
        await log.check(1_000.0, KEY)
        assert [(one.number, one.is_base, one.at) for one in await log.checkpoints()] == [(0, True, 1_000_000)]
        await log.add(LIMIT)
        for now in (2_000.0, 3_000.0, 2_500.0):
            await log.check(now, KEY)
        assert [(one.number, one.at) for one in await log.checkpoints()] == [(0, 1_000_000), (1, 3_000_000)]
        for now, is_young in ((3_500.0, True), (4_300.0, False), (-300.0, False)):
            result = verify(await records_of(log), await log.checkpoints(), KEY, now=now, max_age=1_200.0)
            assert (result.problems == []) is is_young
        await tables.run("UPDATE audit_checkpoint SET at = 4300000 WHERE number = 1")
        assert any("is not signed" in problem for problem in (await verified(log)).problems)

    @awaited
    async def test_checkpoints_of_earlier_releases_are_valid(self) -> None:
        log, tables = self.log(), self.open_tables()
        await log.add(LIMIT)
        [record] = await records_of(log)
        signature = hmac.new(KEY, f"1:{record.hash}:checkpoint".encode(), "sha256").hexdigest()
        await tables.run(
            "INSERT INTO audit_checkpoint (number, hash, is_base, signature) VALUES (1, :hash, :no, :signature)",
            hash=record.hash,
            no=False,
            signature=signature,
        )
        assert (await verified(log)).problems == []

    @awaited
    async def test_the_head_in_a_file_stays_if_the_log_has_lost_its_record(self, tmp_path: Path) -> None:
        log, tables, path = self.log(), self.open_tables(), tmp_path / "head"

        def keeper() -> HeadKeeper:
            return HeadKeeper(path, self.log(), KEY, inline)

        running = keeper()
        for number in (1, 2, 3):
            await log.add(LIMIT)
            await running.write(1_000.0 + number)
            head = read_head(path)
            assert head == (await self.log().head(1_000.0 + number, KEY))
            assert head is not None
        await tables.run("DELETE FROM audit WHERE number = 3")
        await log.add(evolve(LIMIT, outcome="other"))
        await log.add(LIMIT)
        for each in (running, keeper()):
            await each.write(2_000.0)
            assert read_head(path) == head
        # An operator has found out why. Another key, and a text that somebody has written, are replaced, too.
        for text in (None, "", "x" * 9_000, "1 2 3 4", "-1 x -1 é"):
            path.unlink() if text is None else path.write_text(text)
            await keeper().write(3_000.0)
            assert read_head(path) == await log.head(3_000.0, KEY)
        await log.forget(9_000.0, 1.0, 1, KEY)
        await log.add(LIMIT)
        await keeper().write(4_000.0)
        assert read_head(path) == await log.head(4_000.0, KEY)

    @awaited
    async def test_filters_select_records(self) -> None:
        log = self.log()
        bob = evolve(LIMIT, actor=Actor("command", "0", "Bob"), action="directory-server key revoke", target="k2")
        await log.add(LIMIT, bob, evolve(LIMIT, at=5_000.0, outcome="own_key"))

        async def found(**filters: object) -> list[int]:
            return [each.number for each in await log.newest(9, **filters)]  # type: ignore[arg-type]

        assert await found() == [3, 2, 1]
        assert await found(before=3) == [2, 1]
        assert await found(text="BOB") == [2]
        assert await found(text="limit") == [3, 1]
        assert await found(text="id-1") == [3, 1]
        assert await found(text="r-1") == [3, 2, 1]
        assert await found(outcome="own_key") == [3]
        assert await found(outcome="failed") == [3]
        assert await found(outcome="done") == [2, 1]
        assert await found(since=2_000.0) == [3]
        assert await found(until=2_000.0) == [2, 1]
        for hostile in ("%", "'", "\0", "\udc80", "x" * 9_000):
            assert await found(text=hostile) == []
            assert await found(outcome=hostile) == []
