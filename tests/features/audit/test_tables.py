"""The audit log on both databases: one chain of all processes, checkpoints, and what a verification finds."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import evolve

from directory_server.domain.audit import DONE, Actor, AuditEvent
from directory_server.features.audit.chain import GENESIS, AuditRecord, Verified, hash_of, verify
from directory_server.features.audit.tables import ABANDONED, AuditLog

from ...contract import at_once, awaited
from ...tables.conftest import TablesTest

ANN = Actor("account", "id-1", "ann@example.org", network="192.0.2.0/24")
LIMIT = AuditEvent(
    1_000.123, ANN, "POST /admin/keys/{key_id}/limit", "key_id=k1", '{"limit":20}', '{"limit":50}', "r-1", DONE
)
KEY = b"k" * 32


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
        await log.forget(4.0, 1_000, KEY)
        assert [record.number for record in await records_of(log)] == [4, 5, 6, 7]
        await log.forget(0.0, 2, KEY)
        assert [record.number for record in await records_of(log)] == [6, 7]
        assert (await verified(log)).problems == []
        assert (await log.checkpoints())[0].is_signed(KEY)
        await log.forget(9.0, 2, KEY)
        assert await records_of(log) == []
        await log.add(LIMIT)
        result = await verified(log)
        assert (result.first, result.last, result.problems) == (8, 8, [])

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
        await log.check(KEY)
        await tables.run("DELETE FROM audit WHERE number > 3")
        assert (await verified(log)).problems == ["Records after 3 are missing: there was a record 5."]

    @awaited
    async def test_a_chain_that_was_computed_again_is_found_by_the_signature(self) -> None:
        log, tables = self.log(), self.open_tables()
        await log.add(LIMIT, LIMIT)
        await log.check(KEY)
        await log.check(KEY)
        forged = hash_of(2, evolve(LIMIT, outcome="forged"), (await records_of(log))[0].hash)
        await tables.run(f"UPDATE audit SET outcome = 'forged', hash = '{forged}' WHERE number = 2")
        assert (await verified(log)).problems == ["Record 2 is not the one of its checkpoint."]
        await tables.run(f"UPDATE audit_checkpoint SET hash = '{forged}'")
        [problem] = (await verified(log)).problems
        assert problem == "The checkpoint of record 2 is not signed with the key of audit.key_file."
        assert (await verified(log, b"")).problems == []

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
