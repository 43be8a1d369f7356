"""StoredIdentities: the ways to sign in to an account, what the first link ends, and how long they count."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve, field, frozen
from twisted.internet.task import Clock

from directory_server.domain.accounts import REGISTRATION, Account, Identity, Role, subject_digest
from directory_server.domain.errors import BadInput, DirectoryError
from directory_server.features.lists.groups import Groups
from directory_server.features.lists.rules import new_list
from directory_server.features.lists.scopes import ReaderScopes
from directory_server.features.lists.tables import Lists
from directory_server.runtime.run_sync import run_sync
from directory_server.tables import Requests, StoredAccounts, StoredIdentities, StoredKeyRing, StoredSessions, Tables

ADDRESS = "boss@corp.example"
HOUR, DAY = 3_600.0, 86_400.0
A, B = "https://a.example", "https://b.example"


def person(issuer: str, subject: str = "boss", *groups: str) -> Identity:
    return Identity(issuer, subject_digest(issuer, subject), groups)


@frozen
class Held:
    """What somebody holds of an account: sessions, secrets of keys and a link."""

    sessions: list[str] = field(factory=list)
    keys: list[str] = field(factory=list)
    links: list[str] = field(factory=list)


@frozen
class Setup:
    """The adapters of accounts, on one clock."""

    tables: Tables
    clock: Clock
    held: Held = field(factory=Held)

    @property
    def accounts(self) -> StoredAccounts:
        return StoredAccounts(self.tables, self.clock.seconds)

    @property
    def sessions(self) -> StoredSessions:
        return StoredSessions(self.tables, self.clock.seconds, 7 * DAY, 30 * DAY)

    @property
    def keys(self) -> StoredKeyRing:
        return StoredKeyRing(self.tables, self.clock.seconds)

    @property
    def identities(self) -> StoredIdentities:
        return StoredIdentities(self.tables, self.clock.seconds)

    def find(self) -> Account | None:
        return run_sync(self.accounts.find(ADDRESS))

    def found(self) -> Account:
        account = self.find()
        assert account is not None
        return account

    def use(self, account: Account) -> None:
        """Open a session of an account, and create a key and a link."""
        self.held.sessions.append(run_sync(self.sessions.open(account.id)))
        self.held.keys.append(run_sync(self.keys.create("theirs", limit=20, expires_at=None, owner=account.id))[1])
        self.held.links.append(run_sync(self.accounts.link(account.id, lifetime=DAY)))

    def working(self) -> list[bool]:
        """Return whether the held session, key and link work, and whether the account has a password.

        Of a disabled account: when it is enabled again.
        """
        account = self.find()
        if account is not None and account.disabled_at is not None:
            run_sync(self.accounts.enable(account.id))
            try:
                return self.working()
            finally:
                run_sync(self.accounts.disable(account.id))
        return [
            any(run_sync(self.sessions.find(session)) is not None for session in self.held.sessions),
            any(run_sync(self.keys.find(secret)) is not None for secret in self.held.keys),
            any(run_sync(self.accounts.linked(link)) is not None for link in self.held.links),
            account is not None and run_sync(self.accounts.password(account.id)) is not None,
        ]

    def sign_in(
        self, identity: Identity, *, creates: bool = True, role: Role | None = None, renew: float | None = None
    ) -> Account | None:
        self.clock.advance(1)
        identity = evolve(identity, role=role, renew=renew)
        return run_sync(self.identities.sign_in(identity, ADDRESS, creates=creates))

    def session(self, identity: Identity, **options: Any) -> str:
        """Sign in; return the secret of the session."""
        account = self.sign_in(identity, **options)
        assert account is not None
        return run_sync(self.sessions.open(account.id, person=identity.digest))

    def role(self, session: str) -> str | None:
        account = run_sync(self.sessions.find(session))
        return None if account is None else account.role


@pytest.fixture
def setup(tables: Tables, clock: Clock) -> Setup:
    return Setup(tables, clock)


def registered(setup: Setup) -> None:
    setup.use(run_sync(setup.accounts.register(ADDRESS, "hash", most=10)))


def approved(setup: Setup) -> None:
    registered(setup)
    # In the same second: the time of the approval tells nothing.
    run_sync(setup.accounts.approve(setup.found().id))


def appointed(setup: Setup) -> None:
    approved(setup)
    run_sync(setup.accounts.set_role(setup.found().id, "auditor"))


def reset(setup: Setup) -> None:
    approved(setup)
    run_sync(setup.accounts.redeem(run_sync(setup.accounts.link(setup.found().id, lifetime=DAY)), "another hash"))


def disabled(setup: Setup) -> None:
    approved(setup)
    run_sync(setup.accounts.disable(setup.found().id))


def invited(setup: Setup) -> None:
    run_sync(setup.accounts.add(ADDRESS))


def active(setup: Setup) -> None:
    setup.use(run_sync(setup.accounts.add(ADDRESS, "hash")))


def of_issuer(setup: Setup) -> None:
    account = setup.sign_in(person(A))
    assert account is not None
    setup.use(account)


def of_linked_issuer(setup: Setup) -> None:
    of_issuer(setup)
    run_sync(setup.accounts.link_issuer(setup.found().id, B))


def of_both(setup: Setup) -> None:
    of_linked_issuer(setup)
    assert setup.sign_in(person(B)) is not None


def nothing(setup: Setup) -> None:
    pass


NEW, SAME, EMPTIED, NONE, REFUSED, TAKEN = "new", "same", "emptied", "none", "linked_elsewhere", "email_taken"

# What existed before; then: a registration, an invitation, the first issuer, another one, and others of both with the
# same address. The second issuer creates no accounts.
TABLE = {
    nothing: (NEW, NEW, NEW, NONE, NEW, NONE),
    registered: (TAKEN, TAKEN, EMPTIED, NONE, EMPTIED, NONE),
    approved: (TAKEN, TAKEN, EMPTIED, EMPTIED, EMPTIED, EMPTIED),
    appointed: (TAKEN, TAKEN, EMPTIED, EMPTIED, EMPTIED, EMPTIED),
    reset: (TAKEN, TAKEN, EMPTIED, EMPTIED, EMPTIED, EMPTIED),
    disabled: (TAKEN, TAKEN, EMPTIED, EMPTIED, EMPTIED, EMPTIED),
    invited: (TAKEN, TAKEN, SAME, SAME, SAME, SAME),
    active: (TAKEN, TAKEN, SAME, SAME, SAME, SAME),
    of_issuer: (TAKEN, TAKEN, SAME, REFUSED, REFUSED, REFUSED),
    of_linked_issuer: (TAKEN, TAKEN, SAME, SAME, REFUSED, SAME),
    of_both: (TAKEN, TAKEN, SAME, SAME, REFUSED, REFUSED),
}

WAYS = {
    "registration": lambda setup: run_sync(setup.accounts.register(ADDRESS, "hash", most=10)),
    "invitation": lambda setup: run_sync(setup.accounts.add(ADDRESS)),
    "issuer A": lambda setup: setup.sign_in(person(A)),
    "issuer B": lambda setup: setup.sign_in(person(B), creates=False),
    "another person of A": lambda setup: setup.sign_in(person(A, "another")),
    "another person of B": lambda setup: setup.sign_in(person(B, "another"), creates=False),
}


@pytest.mark.parametrize("before", TABLE, ids=lambda before: before.__name__)
def test_ways_in(setup: Setup, before: Any, subtests: pytest.Subtests) -> None:
    for way, expected in zip(WAYS, TABLE[before], strict=True):
        with subtests.test(way):
            if (account := setup.find()) is not None:
                run_sync(setup.accounts.delete(account.id))
            setup = Setup(setup.tables, setup.clock)
            before(setup)
            there, working = setup.find(), setup.working()
            try:
                account = WAYS[way](setup)
            except DirectoryError as error:
                outcome = error.code
            else:
                if account is None or there is None:
                    outcome = NONE if account is None else NEW
                else:
                    assert account.id == there.id
                    assert (account.approved, account.disabled_at) == (True, there.disabled_at)
                    assert run_sync(Requests(setup.tables, (REGISTRATION,)).count()) == 0
                    outcome = SAME if setup.working() == working else EMPTIED
            assert outcome == expected
            if outcome == EMPTIED and account is not None:
                assert setup.working() == [False] * 4
                if account.disabled_at is not None:
                    run_sync(setup.accounts.enable(account.id))
                # Afterwards the account is that of the person, and empties no more.
                setup.use(account)
                assert setup.sign_in(person(A if "A" in way else B, "another" if "another" in way else "boss"))
                assert setup.working()[:3] == [True] * 3
            elif outcome in (REFUSED, TAKEN, NONE):
                assert setup.working() == working


def test_what_operators_gave_to_a_registered_account_stays(setup: Setup) -> None:
    appointed(setup)
    run_sync(setup.accounts.set_limit(setup.found().id, 500))
    account = setup.sign_in(person(A))
    assert account is not None
    assert (account.role, account.limit, account.state) == ("auditor", 500, "active")
    assert run_sync(setup.keys.list(account.id)) == []


def test_a_link_of_an_operator_is_for_one_person_of_one_issuer(setup: Setup) -> None:
    of_issuer(setup)
    run_sync(setup.accounts.link_issuer(setup.found().id, A))
    with pytest.raises(BadInput):
        setup.sign_in(person(B))
    # A sign-in of the first person does not use it.
    assert setup.sign_in(person(A)) is not None
    assert setup.sign_in(person(A, "second")) is not None
    with pytest.raises(BadInput):
        setup.sign_in(person(A, "third"))


def test_a_role_belongs_to_the_issuer_that_gave_it(setup: Setup) -> None:
    of_a = setup.session(person(A), role="operator")
    run_sync(setup.accounts.link_issuer(setup.found().id, B))
    of_b = setup.session(person(B))
    by_link = run_sync(setup.sessions.open(setup.found().id))
    assert [setup.role(session) for session in (of_a, of_b, by_link)] == ["operator", "member", "member"]
    # Operators see that the account may become one.
    assert setup.found().role == "operator"
    # An issuer that decides no role does not end that of another.
    setup.sign_in(person(B))
    assert setup.role(of_a) == "operator"
    setup.sign_in(person(B), role="auditor")
    assert [setup.role(session) for session in (of_a, of_b)] == ["operator", "auditor"]
    setup.sign_in(person(A), role="member")
    assert [setup.role(session) for session in (of_a, of_b, by_link)] == ["member", "auditor", "member"]
    # The role that an operator gives counts in all sessions, until an issuer that decides roles does.
    run_sync(setup.accounts.set_role(setup.found().id, "operator"))
    assert [setup.role(session) for session in (of_a, of_b, by_link)] == ["operator"] * 3
    run_sync(setup.accounts.set_role(setup.found().id, "member"))
    assert [setup.role(session) for session in (of_a, of_b, by_link)] == ["member"] * 3
    # An issuer gives none any more.
    setup.sign_in(person(A), role="operator")
    setup.sign_in(person(A))
    assert setup.role(of_a) == "member"


def names(setup: Setup, reader: str) -> set[str]:
    return {*run_sync(ReaderScopes(setup.tables, setup.clock.seconds).names(reader))}


def test_who_is_removed_at_the_issuer_is_removed_here(setup: Setup) -> None:
    active(setup)
    groups, lists = Groups(setup.tables), Lists(setup.tables)
    run_sync(groups.add("red", 0.0))
    run_sync(groups.add_claim("red", A, "staff"))
    for name in ("red", "blue"):
        run_sync(lists.put(new_list(name, name, is_all=True, is_open=False, rule="", now=0.0)))
    run_sync(lists.set_groups("red", ["red"]))
    staff = person(A, "boss", "staff")
    account, session = setup.found(), setup.session(staff, role="operator", renew=DAY)
    run_sync(setup.accounts.link(account.id, lifetime=30 * DAY))
    subject = run_sync(setup.keys.of_subject(staff.digest, "tokens", limit=20))
    assert setup.working() == [True, True, False, True]
    assert setup.role(session) == "operator"
    assert names(setup, account.id) == {"red", "blue"}
    setup.clock.advance(DAY - 1)
    assert setup.working()[:2] == [True, True]
    assert names(setup, account.id) == {"red", "blue"}
    setup.clock.advance(1)
    keys = [key.id for key in run_sync(setup.keys.list(account.id))]
    assert setup.working() == [False] * 4
    assert setup.role(session) is None
    assert names(setup, account.id) == set()
    assert run_sync(setup.keys.live(keys)) == set()
    assert run_sync(setup.keys.ended(HOUR)) == {*keys}
    # Her issuer still gives her access tokens.
    assert run_sync(setup.keys.of_subject(staff.digest, "tokens", limit=20)) == subject
    # She is there again.
    setup.sign_in(staff, role="member", renew=DAY)
    assert setup.working() == [True, True, False, True]
    assert setup.role(session) == "member"
    assert names(setup, account.id) == {"red"}


def test_a_person_who_is_not_renewed_leaves_what_another_one_has(setup: Setup) -> None:
    of_a = setup.session(person(A), role="operator", renew=HOUR)
    run_sync(setup.accounts.link_issuer(setup.found().id, B))
    of_b = setup.session(person(B), renew=DAY)
    setup.use(setup.found())
    setup.clock.advance(2 * HOUR)
    assert [setup.role(session) for session in (of_a, of_b)] == [None, "member"]
    assert setup.working() == [True, True, True, False]
    setup.clock.advance(DAY)
    assert setup.working()[:2] == [False, False]


def test_a_link_of_an_operator_renews(setup: Setup) -> None:
    session = setup.session(person(A), role="operator", renew=HOUR)
    account = setup.found()
    setup.use(account)
    setup.clock.advance(DAY - 1)
    assert run_sync(setup.accounts.redeem(setup.held.links[0], None)).id == account.id
    by_link = run_sync(setup.sessions.open(account.id))
    assert [setup.role(token) for token in (session, by_link)] == [None, "member"]
    setup.sign_in(person(A), renew=HOUR)
    setup.clock.advance(HOUR)
    assert setup.role(by_link) is None


def test_a_changed_setting_applies_to_earlier_sign_ins(setup: Setup) -> None:
    session = setup.session(person(A))
    setup.use(setup.found())
    setup.clock.advance(2 * HOUR)
    assert setup.role(session) == "member"
    run_sync(setup.identities.apply_renewals({B: 1.0}))
    assert setup.role(session) == "member"
    run_sync(setup.identities.apply_renewals({A: HOUR}))
    assert setup.role(session) is None
    assert setup.working()[:2] == [False, False]
    run_sync(setup.identities.apply_renewals({A: DAY, B: None}))
    assert setup.role(session) == "member"
    assert setup.working()[:2] == [True, True]
    run_sync(setup.identities.apply_renewals({A: HOUR}))
    run_sync(setup.identities.apply_renewals({A: None}))
    setup.clock.advance(6 * DAY)
    assert setup.role(session) == "member"


def test_an_account_without_an_issuer_needs_no_renewal(setup: Setup) -> None:
    active(setup)
    run_sync(setup.identities.apply_renewals({A: 1.0, B: 1.0}))
    setup.clock.advance(6 * DAY)
    assert setup.working() == [True, True, False, True]
