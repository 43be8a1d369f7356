"""Requests of all kinds on both databases: their states, limits, expiry and history."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any

import pytest
from attrs import evolve

from directory_server.domain.errors import BadInput, NotFound, TooManyRequests
from directory_server.domain.requests import MAX_EVENTS, MAX_TEXT, EventKind, Kind, Request
from directory_server.tables import Requests, StoredAccounts, _requests

from ..contract import at_once, awaited
from .conftest import TablesTest

OF_ACCOUNTS = Kind("quota", per_account=2, most=4)
ANONYMOUS = Kind("report", 1_000, needs_text=False, per_subject=3, most=5, of_accounts=False, expires=False)


class TestRequests(TablesTest):
    async def open(self) -> tuple[Requests, Requests, StoredAccounts, str]:
        tables = self.open_tables()
        accounts = StoredAccounts(tables, lambda: 1.0)
        ann = (await accounts.add("ann@example.org")).id
        return Requests(tables, (OF_ACCOUNTS,)), Requests(tables, (ANONYMOUS,)), accounts, ann

    @awaited
    async def test_a_request_goes_from_state_to_state_with_a_history(self) -> None:
        requests, others, _, ann = await self.open()
        added = await requests.add(Request("quota", "s", "p", ann, {"wanted": 5}), " For\u202e agents. ", 10.0)
        assert await requests.find(added) == Request("quota", "s", "p", ann, {"wanted": 5}, "open", 10.0, 10.0, added)
        for event, text in (("answer", "Too early."), ("question", " "), ("question", "x" * (MAX_TEXT + 1))):
            with pytest.raises(BadInput):
                await requests.record(added, event, "amy", text, 11.0)  # type: ignore[arg-type]
        assert (await requests.record(added, "question", "amy", "Why?", 12.0)).state == "asked"
        with pytest.raises(BadInput):
            await requests.record(added, "question", "amy", "Why?", 12.0)
        assert (await requests.record(added, "answer", ann, "So.", 13.0)).state == "open"
        decided = await requests.record(added, "approved", "amy", "", 14.0, {"granted": 3})
        assert (decided.state, decided.details, decided.updated_at) == ("approved", {"wanted": 5, "granted": 3}, 14.0)
        assert not decided.is_open
        with pytest.raises(BadInput, match="was decided"):
            await requests.record(added, "declined", "amy", "", 15.0)
        assert [(event.at, event.kind, event.account, event.text) for event in await requests.events(added)] == [
            (10.0, "requested", ann, "For agents."),
            (12.0, "question", "amy", "Why?"),
            (13.0, "answer", ann, "So."),
            (14.0, "approved", "amy", ""),
        ]
        assert await requests.texts([decided]) == {added: "For agents."}
        assert (list(await requests.list(is_open=True, limit=9)), await requests.count()) == ([], 0)
        assert await requests.list(is_open=False, limit=9) == await requests.of_account(ann, 9) == [decided]
        assert await requests.count_states() == {"approved": 1}
        for request_id in (added, "nosuchid", "\0", "\udc80"):
            with pytest.raises(NotFound):
                await others.find(request_id)
            with pytest.raises(NotFound):
                await others.record(request_id, "closed", None, "", 16.0)

    @pytest.mark.parametrize("event", ["declined", "withdrawn", "closed", "expired"])
    @awaited
    async def test_every_end_is_possible_while_a_question_waits(self, event: EventKind) -> None:
        requests, _, _, ann = await self.open()
        added = await requests.add(Request("quota", "s", account=ann), "Agents.", 1.0)
        await requests.record(added, "question", "amy", "Why?", 2.0)
        assert (await requests.record(added, event, None, "", 3.0)).state == event

    @awaited
    async def test_texts_are_needed_and_bounded_by_the_kind(self) -> None:
        requests, others, _, ann = await self.open()
        for text, code in ((" ", "reason_missing"), ("x" * (MAX_TEXT + 1), "reason_long")):
            with pytest.raises(BadInput) as raised:
                await requests.add(Request("quota", "s", account=ann), text, 1.0, "reason")
            assert raised.value.code == code
        with pytest.raises(BadInput, match="text: must have at most 1,000"):
            await others.add(Request("report", "s"), "x" * 1_001, 1.0)
        await others.add(Request("report", "s"), "\u00e9" * 1_000, 1.0)
        added = await others.add(Request("report", "s"), "a\0b\x1b[31m\u202e\udc80\r\nc ", 1.0)
        assert [event.text for event in await others.events(added)] == ["a\ufffdb\ufffd[31m\ufffd\nc"]

    @awaited
    async def test_open_requests_are_bounded_in_all_of_a_subject_and_of_an_account(self) -> None:
        requests, others, accounts, ann = await self.open()
        bob = (await accounts.add("bob@example.org")).id
        first = await requests.add(Request("quota", "s", account=ann), "Agents.", 1.0)
        with pytest.raises(BadInput, match="have an open request"):
            await requests.add(Request("quota", "s", account=ann), "Again.", 1.0)
        await requests.add(Request("quota", "t", account=ann), "Agents.", 1.0)
        with pytest.raises(BadInput, match="at most 2 open requests"):
            await requests.add(Request("quota", "u", account=ann), "Agents.", 1.0)
        for subject in ("s", "t"):
            await requests.add(Request("quota", subject, account=bob), "Agents.", 1.0)
        cy = (await accounts.add("cy@example.org")).id
        with pytest.raises(TooManyRequests):
            await requests.add(Request("quota", "s", account=cy), "Agents.", 1.0)
        await requests.record(first, "declined", None, "", 2.0)
        await requests.add(Request("quota", "s", account=cy), "Agents.", 1.0)
        for _ in range(3):
            await others.add(Request("report", "s"), "", 1.0)
        with pytest.raises(TooManyRequests):
            await others.add(Request("report", "s"), "", 1.0)
        await others.add(Request("report", "s", "elsewhere"), "", 1.0)

    @awaited
    async def test_concurrent_requests_stay_within_the_limit(self) -> None:
        others = [
            (await self.open())[1] if not number else Requests(self.open_tables(), (ANONYMOUS,)) for number in range(4)
        ]

        async def outcome(call: Coroutine[Any, Any, str]) -> str:
            try:
                return await call
            except TooManyRequests:
                return "full"

        outcomes = await at_once(*(outcome(requests.add(Request("report", "s"), "", 1.0)) for requests in others))
        assert outcomes.count("full") == 1
        assert await others[0].count() == 3

    @awaited
    async def test_a_request_with_many_questions_can_still_be_decided(self) -> None:
        requests, _, _, ann = await self.open()
        added = await requests.add(Request("quota", "s", account=ann), "Agents.", 1.0)
        talk: list[EventKind] = ["question", "answer"]
        for number in range(MAX_EVENTS - 1):
            await requests.record(added, talk[number % 2], ann, "Text.", 2.0)
        with pytest.raises(BadInput, match="too many questions"):
            await requests.record(added, talk[(MAX_EVENTS - 1) % 2], ann, "Text.", 2.0)
        assert (await requests.record(added, "declined", "amy", "", 2.0)).state == "declined"

    @awaited
    async def test_old_requests_expire_and_those_of_deleted_accounts_go(self, monkeypatch: pytest.MonkeyPatch) -> None:
        requests, others, accounts, ann = await self.open()
        bob = (await accounts.add("bob@example.org")).id
        old, of_bob = [await requests.add(Request("quota", "s", account=of), "Agents.", 10.0) for of in (ann, bob)]
        report = await others.add(Request("report", "s"), "", 1.0)
        assert [await stored.expire(10.0, 20.0) for stored in (requests, others)] == [[], []]
        assert await others.count() == 1
        await accounts.delete(bob)
        assert await requests.count() == 1
        assert [request.id for request in await requests.list(is_open=True, limit=9)] == [old]
        assert [request.id for request in await requests.expire(11.0, 20.0)] == [old]
        assert (await requests.find(old)).state == "expired"
        with pytest.raises(NotFound):
            await requests.find(of_bob)
        await requests.expire(21.0, 30.0)
        with pytest.raises(NotFound):
            await requests.find(old)
        assert await requests.events(old) == []
        monkeypatch.setattr(_requests, "MAX_DECIDED", 1)
        await others.record(report, "closed", None, "", 40.0)
        last = await others.add(Request("report", "s"), "", 41.0)
        await others.record(last, "closed", None, "", 42.0)
        await others.expire(1.0, 43.0)
        assert [request.id for request in await others.list(is_open=False, limit=9)] == [last]

    @awaited
    async def test_the_last_requests_are_first(self) -> None:
        _, others, _, _ = await self.open()
        added = [await others.add(Request("report", f"s{at}"), "", at) for at in (2.0, 3.0, 1.0)]
        expected = [added[1], added[0], added[2]]
        assert [request.id for request in await others.list(is_open=True, limit=9)] == expected
        assert [request.id for request in await others.list(is_open=True, limit=2)] == expected[:2]
        found = await others.find(added[0])
        assert evolve(found, id="") == Request("report", "s2.0", created_at=2.0, updated_at=2.0)
