"""StoredAccounts and StoredSessions."""

from __future__ import annotations

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from functools import partial
from pathlib import Path

import psycopg
import pytest
from attrs import evolve
from twisted.internet.task import Clock

from directory_server.domain.accounts import REGISTRATION, Account
from directory_server.domain.errors import BadInput, NotFound, TooManyAccounts
from directory_server.domain.keys import Client
from directory_server.runtime.run_sync import run_sync
from directory_server.sqlite import Database as SqliteDatabase
from directory_server.sqlite import SqliteTables
from directory_server.tables import Requests, StoredAccounts, StoredSessions, Tables, _sessions

from ..contract import ContractWithClock, awaited
from ..engines import Engine
from ..sqlite.conftest import run_concurrently
from .conftest import OpenTables, TablesTest, number, rows_of
from .schemas import make_former_sqlite

HOUR = 3600.0


IDLE = 8 * HOUR


"""Idle timeout of the sessions under test, in seconds."""


LAPTOP, PHONE = Client("192.0.2.0/24", "Firefox (Linux)"), Client("2001:db8:1::/48", "Safari (iOS)")


ABSOLUTE = 24 * HOUR


"""Absolute lifetime of the sessions under test, in seconds."""


class WithAccounts(TablesTest, ContractWithClock):
    async def open(self) -> tuple[StoredAccounts, StoredSessions]:
        """Return the accounts and sessions of a process."""
        tables, now = self.open_tables(), self.clock.seconds
        return StoredAccounts(tables, now), StoredSessions(tables, now, IDLE, ABSOLUTE)

    async def open_with_ann(self) -> tuple[StoredAccounts, StoredSessions, Account]:
        accounts, sessions = await self.open()
        ann = await accounts.add("ann@example.org")
        await accounts.set_password(ann.id, "hash")
        return accounts, sessions, evolve(ann, active=True)


class TestAccounts(WithAccounts):
    """Accounts, their passwords, links, roles and states."""

    @awaited
    async def test_creates_an_account_without_a_password(self) -> None:
        accounts, _ = await self.open()
        ann = await accounts.add(" Ann@Example.org ")
        assert ann == Account(ann.id, "ann@example.org", 1_000_000.0, False, None)
        assert await accounts.find("ANN@example.ORG") == ann
        assert await accounts.password(ann.id) is None
        assert list(await accounts.list()) == [ann]

    @pytest.mark.parametrize(
        "email",
        [
            "",
            "ann",
            "@example.org",
            "ann@",
            "a b@example.org",
            "a\nb@c",
            "a\0b@c.d",
            "a\udc80b@c.d",
            f"{'a' * 251}@b.c",
        ],
    )
    @awaited
    async def test_rejects_an_invalid_address(self, email: str) -> None:
        accounts, _ = await self.open()
        with pytest.raises(BadInput, match="email: must be an address such as"):
            await accounts.add(email)
        assert await accounts.find(email) is None
        assert list(await accounts.list()) == []

    @awaited
    async def test_rejects_a_taken_address(self) -> None:
        accounts, _ = await self.open()
        await accounts.add("ann@example.org")
        with pytest.raises(BadInput, match=r"'ann@example\.org' has an account already"):
            await accounts.add("ANN@example.org")

    @awaited
    async def test_raises_not_found_for_an_unknown_account(self) -> None:
        accounts, _ = await self.open()
        for call in (
            accounts.set_password("nosuchid", "hash"),
            accounts.disable("nosuchid"),
            accounts.enable("nosuchid"),
            accounts.link("nosuchid", lifetime=HOUR),
        ):
            with pytest.raises(NotFound, match="nosuchid"):
                await call

    @awaited
    async def test_sets_a_password_by_a_link_once(self) -> None:
        accounts, _ = await self.open()
        other, _ = await self.open()
        ann = await accounts.add("ann@example.org")
        token = await accounts.link(ann.id, lifetime=HOUR)
        assert await accounts.linked(token) == await accounts.linked(token) == ann
        active = await accounts.redeem(token, "hash")
        assert active == evolve(ann, active=True)
        assert await accounts.password(ann.id) == "hash"
        assert await other.linked(token) is None
        with pytest.raises(NotFound, match="unknown, used or expired"):
            await other.redeem(token, "another hash")
        assert await accounts.password(ann.id) == "hash"

    @awaited
    async def test_a_link_expires(self) -> None:
        accounts, _ = await self.open()
        ann = await accounts.add("ann@example.org")
        token = await accounts.link(ann.id, lifetime=HOUR)
        self.clock.advance(HOUR)
        assert await accounts.linked(token) is None
        with pytest.raises(NotFound):
            await accounts.redeem(token, "hash")

    @awaited
    async def test_a_new_link_replaces_the_previous_one(self) -> None:
        accounts, _ = await self.open()
        ann = await accounts.add("ann@example.org")
        first = await accounts.link(ann.id, lifetime=HOUR)
        second = await accounts.link(ann.id, lifetime=HOUR)
        assert await accounts.linked(first) is None
        assert await accounts.linked(second) == ann

    @pytest.mark.parametrize("token", ["", "no such link", "\udc80", "é"])
    @awaited
    async def test_finds_no_link_and_no_session_by_an_invalid_token(self, token: str) -> None:
        accounts, sessions = await self.open()
        assert await accounts.linked(token) is None
        assert await sessions.find(token) is None
        await sessions.close(token)

    @awaited
    async def test_disabling_an_account_ends_all_access(self) -> None:
        accounts, sessions, ann = await self.open_with_ann()
        token, session = await accounts.link(ann.id, lifetime=HOUR), await sessions.open(ann.id)
        await accounts.disable(ann.id)
        disabled = evolve(ann, disabled_at=1_000_000.0)
        self.clock.advance(1)
        await accounts.disable(ann.id)
        assert await accounts.find("ann@example.org") == disabled
        assert await accounts.password(ann.id) is None
        assert await accounts.linked(token) is None
        assert await sessions.find(session) is None
        with pytest.raises(BadInput, match="disabled"):
            await accounts.link(ann.id, lifetime=HOUR)
        # A session that a concurrent request opens is invalid.
        session = await sessions.open(ann.id)
        assert await sessions.find(session) is None

    @awaited
    async def test_enables_an_account_without_its_old_sessions_and_links(self) -> None:
        accounts, sessions, ann = await self.open_with_ann()
        token, session = await accounts.link(ann.id, lifetime=HOUR), await sessions.open(ann.id)
        await accounts.disable(ann.id)
        await accounts.enable(ann.id)
        assert await accounts.find("ann@example.org") == ann
        assert await accounts.password(ann.id) == "hash"
        assert await accounts.linked(token) is None
        assert await sessions.find(session) is None

    @awaited
    async def test_a_registered_account_is_pending(self) -> None:
        accounts, _ = await self.open()
        ann = await accounts.register(" Ann@Example.org ", "hash", most=1)
        assert ann == Account(ann.id, "ann@example.org", 1_000_000.0, True, None, False)
        assert await accounts.password(ann.id) == "hash"
        with pytest.raises(TooManyAccounts):
            await accounts.register("bob@example.org", "hash", most=1)
        # Accounts of the operator are not counted.
        await accounts.add("cy@example.org")
        with pytest.raises(BadInput, match="has an account already"):
            await accounts.register("ann@example.org", "hash", most=2)
        with pytest.raises(BadInput, match="email: must be"):
            await accounts.register("ann", "hash", most=2)
        await accounts.approve(ann.id)
        await accounts.approve(ann.id)
        assert await accounts.find("ann@example.org") == evolve(ann, approved=True)
        with pytest.raises(BadInput, match="text: must have"):
            await accounts.register("dan@example.org", "hash", most=5, text="x" * 281)
        assert await accounts.find("dan@example.org") is None
        await accounts.register("bob@example.org", "hash", most=1)
        with pytest.raises(NotFound, match="nosuchid"):
            await accounts.approve("nosuchid")

    @awaited
    async def test_a_registered_account_has_a_request_until_it_is_approved_disabled_or_deleted(self) -> None:
        tables = self.open_tables()
        accounts, requests = StoredAccounts(tables, self.clock.seconds), Requests(tables, (REGISTRATION,))
        ann, bob, cy = [await accounts.register(f"{n}@example.org", "hash", most=9, text=n) for n in ("a", "b", "c")]
        waiting = {request.subject: request for request in await requests.list(is_open=True, limit=9)}
        assert set(waiting) == {ann.id, bob.id, cy.id} == {request.account for request in waiting.values()}
        assert set((await requests.texts([*waiting.values()])).values()) == {"a", "b", "c"}
        assert await requests.count() == 3
        await requests.record(waiting[bob.id].id, "question", "amy", "Who?", self.clock.seconds())
        await accounts.approve(ann.id)
        await accounts.disable(bob.id)
        await accounts.delete(cy.id)
        # A second approval, and that of an account without an open request, changes nothing.
        for account in (ann, bob):
            await accounts.approve(account.id)
        assert await requests.count() == 0
        states = {account.id: (await requests.of_account(account.id, 9))[0].state for account in (ann, bob)}
        assert states == {ann.id: "approved", bob.id: "closed"}
        assert [event.kind for event in await requests.events(waiting[ann.id].id)] == ["requested", "approved"]
        await accounts.add("dan@example.org")
        assert await requests.count() == 0

    @awaited
    async def test_an_approved_account_becomes_an_operator_and_a_member_again(self) -> None:
        accounts, sessions, ann = await self.open_with_ann()
        other, _ = await self.open()
        token = await sessions.open(ann.id)
        assert (ann.role, ann.is_operator) == ("member", False)
        await accounts.set_role(ann.id, "operator")
        assert await other.find(ann.email) == evolve(ann, role="operator")
        signed_in = await sessions.find(token)
        assert signed_in is not None
        assert signed_in.is_operator
        await accounts.set_role(ann.id, "member")
        assert await sessions.find(token) == ann
        with pytest.raises(NotFound, match="nosuchid"):
            await accounts.set_role("nosuchid", "operator")

    @awaited
    async def test_a_pending_account_cannot_be_an_operator(self) -> None:
        accounts, _ = await self.open()
        bob = await accounts.register("bob@example.org", "hash", most=5)
        with pytest.raises(BadInput, match="not approved"):
            await accounts.set_role(bob.id, "operator")
        assert await accounts.find(bob.email) == bob

    @awaited
    async def test_sets_the_limit_of_an_account(self) -> None:
        accounts, _, ann = await self.open_with_ann()
        other, _ = await self.open()
        assert ann.limit is None
        await accounts.set_limit(ann.id, 500)
        assert await other.find(ann.email) == evolve(ann, limit=500)
        with pytest.raises(NotFound, match="nosuchid"):
            await accounts.set_limit("nosuchid", 500)
        for limit in (0, 10**10):
            with pytest.raises(BadInput, match="limit"):
                await accounts.set_limit(ann.id, limit)

    @awaited
    async def test_removes_only_accounts_that_are_unused_and_not_approved(self) -> None:
        accounts, sessions = await self.open()
        ann, bob, cy, dan = [await accounts.register(f"{n}@example.org", "hash", most=9) for n in ("a", "b", "c", "d")]
        await accounts.add("eve@example.org")
        await accounts.approve(bob.id)
        await accounts.disable(cy.id)
        session = await sessions.open(dan.id)
        link = await accounts.link(ann.id, lifetime=HOUR)
        begin = self.clock.seconds()
        self.clock.advance(2 * HOUR)
        assert await sessions.find(session) == dan
        assert [each.id for each in await accounts.unused(begin, after="", limit=9)] == [ann.id]
        assert list(await accounts.unused(begin - 1, after="", limit=9)) == []
        assert list(await accounts.unused(begin, after=ann.id, limit=9)) == []
        assert not any([await accounts.remove(each.id, before=begin) for each in (bob, cy, dan)])
        assert not await accounts.remove("nosuchid", before=begin)
        assert not await accounts.remove(ann.id, before=begin - 1)
        assert await accounts.remove(ann.id, before=begin)
        assert await accounts.find("a@example.org") is None
        assert await accounts.linked(link) is None
        assert len(await accounts.list()) == 4

    @awaited
    async def test_pages_unused_accounts(self) -> None:
        accounts, _ = await self.open()
        created = [(await accounts.register(f"{n}@example.org", "hash", most=9)).id for n in range(5)]
        now, seen, after = self.clock.seconds(), list[str](), ""
        while page := await accounts.unused(now, after=after, limit=2):
            seen += [each.id for each in page]
            after = seen[-1]
        assert seen == sorted(created)

    @awaited
    async def test_a_deleted_account_and_its_access_are_gone(self) -> None:
        accounts, sessions, ann = await self.open_with_ann()
        bob = await accounts.add("bob@example.org", "hash")
        session, link = await sessions.open(ann.id), await accounts.link(ann.id, lifetime=HOUR)
        of_bob = await sessions.open(bob.id)
        await accounts.delete(ann.id)
        assert await accounts.find("ann@example.org") is None
        assert await accounts.password(ann.id) is None
        assert await accounts.linked(link) is None
        assert await sessions.find(session) is None
        assert list(await accounts.list()) == [await sessions.find(of_bob)]
        for unknown in (ann.id, "nosuchid", "\0"):
            with pytest.raises(NotFound):
                await accounts.delete(unknown)
        assert (await accounts.add("ann@example.org")).id != ann.id


TOGETHER = 6


ROUNDS = 10


"""Repetitions of a race, so that code without a lock fails."""


@pytest.fixture
def accounts(tables: Tables, clock: Clock) -> StoredAccounts:
    return StoredAccounts(tables, clock.seconds)


@pytest.fixture
def sessions(tables: Tables, clock: Clock) -> StoredSessions:
    return StoredSessions(tables, clock.seconds, IDLE, ABSOLUTE)


def pulse(tables: Tables) -> int:
    return number(tables, "SELECT keys FROM pulse")


def test_stores_no_secret_of_a_link_or_a_session(
    tables: Tables, accounts: StoredAccounts, sessions: StoredSessions
) -> None:
    ann = run_sync(accounts.add("ann@example.org"))
    secrets = [run_sync(accounts.link(ann.id, lifetime=60)), run_sync(sessions.open(ann.id))]
    stored = str([rows_of(tables, f"SELECT * FROM {table}") for table in ("account", "link", "session")])
    assert "ann@example.org" in stored
    assert not any(secret in stored for secret in secrets)


def connected(open_tables: OpenTables, clock: Clock) -> list[StoredAccounts]:
    """Return accounts of several processes with open connections, so that their statements come together."""
    processes = [StoredAccounts(open_tables(), clock.seconds) for _ in range(TOGETHER)]
    for process in processes:
        run_sync(process.list())
    return processes


def test_one_of_several_concurrent_callers_redeems_a_link(open_tables: OpenTables, clock: Clock) -> None:
    processes = connected(open_tables, clock)
    ann = run_sync(processes[0].add("ann@example.org"))
    for _ in range(ROUNDS):
        token = run_sync(processes[0].link(ann.id, lifetime=60))
        outcomes: list[str] = []
        run_concurrently(partial(redeem, processes, token, outcomes), TOGETHER)
        assert outcomes.count("not found") == TOGETHER - 1
        assert run_sync(processes[0].password(ann.id)) in outcomes


def redeem(processes: list[StoredAccounts], token: str, outcomes: list[str], process: int) -> None:
    try:
        run_sync(processes[process].redeem(token, f"hash {process}"))
        outcomes.append(f"hash {process}")
    except NotFound:
        outcomes.append("not found")


def test_one_of_several_concurrent_callers_gets_an_address(open_tables: OpenTables, clock: Clock) -> None:
    processes = [StoredAccounts(open_tables(), clock.seconds) for _ in range(TOGETHER)]
    taken: list[int] = []

    def add(process: int) -> None:
        try:
            run_sync(processes[process].add("ann@example.org"))
        except BadInput:
            taken.append(process)

    run_concurrently(add, TOGETHER)
    assert len(taken) == TOGETHER - 1
    assert len(run_sync(processes[0].list())) == 1


def test_concurrent_registrations_keep_the_limit(open_tables: OpenTables, clock: Clock) -> None:
    processes = connected(open_tables, clock)
    for last in range(ROUNDS):
        # The limit allows one more account.
        rejected: list[int] = []
        run_concurrently(partial(register, processes, last, rejected), TOGETHER)
        assert len(rejected) == TOGETHER - 1
        assert len(run_sync(processes[0].list())) == last + 1


def register(processes: list[StoredAccounts], last: int, rejected: list[int], process: int) -> None:
    try:
        run_sync(processes[process].register(f"{last}-{process}@example.org", "hash", most=last + 1))
    except TooManyAccounts:
        rejected.append(process)


def test_concurrent_changes_of_an_account_do_not_block_each_other(open_tables: OpenTables, clock: Clock) -> None:
    opened = [open_tables() for _ in range(TOGETHER)]
    accounts = [StoredAccounts(tables, clock.seconds) for tables in opened]
    sessions = [StoredSessions(tables, clock.seconds, IDLE, ABSOLUTE) for tables in opened]
    ann = run_sync(accounts[0].add("ann@example.org"))
    unexpected: list[Exception] = []

    def change(process: int) -> None:
        mine = accounts[process]
        try:
            for _ in range(5):
                run_sync(sessions[process].open(ann.id))
                run_sync(mine.set_password(ann.id, "hash"))
                token = run_sync(mine.link(ann.id, lifetime=60))
                with suppress(NotFound):
                    run_sync(mine.redeem(token, "hash"))
        except Exception as error:
            unexpected.append(error)

    run_concurrently(change, TOGETHER)
    assert unexpected == []


@pytest.mark.parametrize("open_tables", ["postgres"], indirect=True)
@pytest.mark.parametrize("change", ["approve", "disable", "delete", "remove"])
def test_a_change_waits_for_writers_of_requests_before_it_locks_the_account(
    open_tables: OpenTables, clock: Clock, migrated_engine: Engine, change: str
) -> None:
    """Somebody who adds a request locks requests and then, as the request refers to it, the account."""
    accounts = StoredAccounts(open_tables(), clock.seconds)
    ann = run_sync(accounts.register("ann@example.org", "hash", most=5))
    with ThreadPoolExecutor(1) as pool, psycopg.connect(migrated_engine.conninfo) as adding:
        adding.execute("LOCK TABLE request IN SHARE ROW EXCLUSIVE MODE")
        options = {"before": clock.seconds()} if change == "remove" else {}
        changing = pool.submit(lambda: run_sync(getattr(accounts, change)(ann.id, **options)))
        while adding.execute("SELECT 1 FROM pg_locks WHERE NOT granted").fetchone() is None:
            pass
        adding.execute("SELECT 1 FROM account WHERE id = %s FOR KEY SHARE NOWAIT", [ann.id])
        adding.commit()
        changing.result()
    assert run_sync(accounts.find(ann.email)) != ann


def test_what_may_end_or_change_a_key_moves_the_pulse(tables: Tables, accounts: StoredAccounts) -> None:
    ann = run_sync(accounts.add("ann@example.org"))
    unapproved = run_sync(accounts.register("ben@example.org", "hash", most=5))
    run_sync(accounts.set_password(ann.id, "hash"))
    assert pulse(tables) == 0
    run_sync(accounts.disable(ann.id))
    assert pulse(tables) == 1
    run_sync(accounts.approve(unapproved.id))
    assert pulse(tables) == 2


@pytest.mark.parametrize("open_tables", ["postgres"], indirect=True)
def test_the_removal_of_an_account_moves_the_pulse(tables: Tables, accounts: StoredAccounts) -> None:
    """SQLite counts when keys of the account are deleted."""
    ann = run_sync(accounts.add("ann@example.org"))
    pending = run_sync(accounts.register("cy@example.org", "hash", most=5))
    assert not run_sync(accounts.remove(ann.id, before=2_000_000))
    assert pulse(tables) == 0
    assert run_sync(accounts.remove(pending.id, before=2_000_000))
    assert pulse(tables) == 1


def test_sqlite_accounts_of_an_older_schema_are_approved(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "directory.db")) as connection:
        make_former_sqlite(connection, "directory", 5)
        connection.execute("INSERT INTO account (id, email, created_at) VALUES ('old', 'old@example.org', 1)")
        connection.commit()
    database = SqliteDatabase(tmp_path, "directory")
    (old,) = run_sync(StoredAccounts(SqliteTables(database), lambda: 1_000_000.0).list())
    database.close()
    assert (old.id, old.approved) == ("old", True)


@pytest.mark.parametrize("seconds", [IDLE, ABSOLUTE])
def test_a_sign_in_deletes_few_sessions(
    tables: Tables,
    accounts: StoredAccounts,
    sessions: StoredSessions,
    clock: Clock,
    monkeypatch: pytest.MonkeyPatch,
    seconds: float,
) -> None:
    monkeypatch.setattr(_sessions, "MAX_FORGOTTEN", 2)
    opening = sessions if seconds == IDLE else StoredSessions(tables, clock.seconds, 1e9, ABSOLUTE)
    ann = run_sync(accounts.add("ann@example.org"))
    for _ in range(7):
        run_sync(sessions.open(ann.id))
    clock.advance(seconds)
    left = []
    for _ in range(3):
        run_sync(opening.open(ann.id))
        left.append(number(tables, "SELECT count(*) FROM session"))
    assert left == [6, 5, 4]


def test_the_last_use_of_a_session_is_written_every_quarter_of_an_hour(
    tables: Tables, clock: Clock, accounts: StoredAccounts, sessions: StoredSessions
) -> None:
    ann = run_sync(accounts.add("ann@example.org"))
    session = run_sync(sessions.open(ann.id))
    written = set()
    for _ in range(100):
        clock.advance(IDLE / 100)
        assert run_sync(sessions.find(session)) == ann
        written |= set(rows_of(tables, "SELECT session.seen_at, account.seen_at FROM session, account"))
    # Every fourth use is 15 minutes later.
    assert len(written) == 26
