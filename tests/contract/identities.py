"""Contract of Accounts and KeyRing: persons of issuers, and the keys of subjects."""

from __future__ import annotations

from collections.abc import Callable

from attrs import evolve

from directory_server.domain.accounts import Identity, subject_digest
from directory_server.domain.errors import BadInput
from directory_server.tables import StoredAccounts, StoredIdentities, StoredKeyRing

from . import awaited
from .keyring import WithKeyRing

ISSUER = "https://issuer.example.org"

ANN = subject_digest(ISSUER, "ann")

PERSON = Identity(ISSUER, ANN, ("staff", "mcp-admins"))


def test_digests_differ_for_each_issuer_and_subject() -> None:
    pairs = [("a", "b:c"), ("a:b", "c"), ("1:a", "b"), ("", "1:ab"), ("ab", "")]
    assert len({subject_digest(*pair) for pair in pairs}) == len(pairs)


class IdentitiesContract(WithKeyRing):
    """Sign-in to accounts by persons of issuers, and the keys of clients with access tokens."""

    async def identities(self, now: Callable[[], float]) -> StoredIdentities:
        """Return the persons who sign in to the accounts."""
        raise NotImplementedError

    async def open_all(self) -> tuple[StoredKeyRing, StoredAccounts, StoredIdentities]:
        now = self.clock.seconds
        return await self.keys(now), await self.accounts(now), await self.identities(now)

    @awaited
    async def test_a_person_gets_an_account_and_keeps_it_with_another_address(self) -> None:
        _, accounts, identities = await self.open_all()
        account = await identities.sign_in(PERSON, "Ann@Example.org", creates=True)
        assert account is not None
        assert (account.email, account.state, account.role) == ("ann@example.org", "active", "member")
        assert await accounts.password(account.id) is None
        again = await identities.sign_in(evolve(PERSON, groups=("staff",)), "married@example.org", creates=False)
        assert again == account
        assert list(await identities.of(account.id)) == [evolve(PERSON, groups=("staff",))]

    @awaited
    async def test_no_account_without_an_address_or_the_permission_to_create_one(self) -> None:
        _, accounts, identities = await self.open_all()
        assert await identities.sign_in(PERSON, None, creates=True) is None
        assert await identities.sign_in(PERSON, "ann@example.org", creates=False) is None
        assert list(await accounts.list()) == []

    @awaited
    async def test_an_invalid_address_is_rejected(self) -> None:
        _, _, identities = await self.open_all()
        for address in ("ann", "a b@example.org", "a\0@example.org"):
            try:
                await identities.sign_in(PERSON, address, creates=True)
            except BadInput:
                continue
            raise AssertionError(address)

    @awaited
    async def test_a_person_signs_in_to_the_approved_account_with_her_address(self) -> None:
        _, accounts, identities = await self.open_all()
        invited = await accounts.add("ann@example.org", "hash")
        account = await identities.sign_in(PERSON, "ann@example.org", creates=False)
        assert account is not None
        assert account.id == invited.id
        assert await accounts.password(invited.id) == "hash"

    @awaited
    async def test_keys_of_a_registered_account_end_with_the_first_link(self) -> None:
        keys, accounts, identities = await self.open_all()
        squatter = await accounts.register("ann@example.org", "hash", most=10)
        key, secret = await keys.create("theirs", limit=20, expires_at=None, owner=squatter.id)
        await accounts.approve(squatter.id)
        assert await keys.find(secret) is not None
        assert await identities.sign_in(PERSON, "ann@example.org", creates=True) is not None
        await self.wait_a_second()
        assert await keys.find(secret) is None
        assert await keys.live([key.id]) == set()

    @awaited
    async def test_cached_keys_end_when_their_owner_has_to_renew(self) -> None:
        keys, accounts, identities = await self.open_all()
        account = await accounts.add("ann@example.org")
        key, secret = await keys.create("laptop", limit=20, expires_at=None, owner=account.id)
        assert await keys.find(secret) == key
        await identities.sign_in(evolve(PERSON, renew=100), "ann@example.org", creates=True)
        await self.wait_a_second()
        assert await keys.find(secret) == key
        self.clock.advance(99)
        assert await keys.find(secret) == key
        self.clock.advance(1)
        assert await keys.find(secret) is None
        await identities.sign_in(evolve(PERSON, renew=200), None, creates=True)
        await self.wait_a_second()
        assert await keys.find(secret) == key
        self.clock.advance(50)
        await identities.apply_renewals({ISSUER: 50})
        await self.wait_a_second()
        assert await keys.find(secret) is None

    @awaited
    async def test_a_deleted_account_leaves_no_person(self) -> None:
        _, accounts, identities = await self.open_all()
        account = await identities.sign_in(PERSON, "ann@example.org", creates=True)
        assert account is not None
        await accounts.delete(account.id)
        assert list(await identities.of(account.id)) == []
        assert await identities.sign_in(PERSON, None, creates=True) is None

    @awaited
    async def test_a_subject_has_one_key_which_no_secret_opens(self) -> None:
        keys = await self.keys(self.clock.seconds)
        key = await keys.of_subject(ANN, "tokens", limit=20)
        assert key is not None
        assert (key.label, key.limit, key.owner, key.is_subject) == ("tokens", 20, None, True)
        other = await self.keys(self.clock.seconds)
        assert await other.of_subject(ANN, "tokens", limit=7) == key
        assert await keys.of_subject(subject_digest(ISSUER, "bob"), "tokens", limit=20) != key
        assert [each.id for each in await keys.list()].count(key.id) == 1
        for secret in (ANN.hex(), ANN.decode("latin-1"), key.id):
            assert await keys.find(secret) is None
        try:
            await keys.rotate(key.id, grace=0)
        except BadInput:
            return
        raise AssertionError("rotated")

    @awaited
    async def test_a_revoked_subject_stays_rejected(self) -> None:
        keys = await self.keys(self.clock.seconds)
        key = await keys.of_subject(ANN, "tokens", limit=20)
        assert key is not None
        await keys.revoke(key.id)
        await self.wait_a_second()
        assert await keys.of_subject(ANN, "tokens", limit=20) is None
        assert await (await self.keys(self.clock.seconds)).of_subject(ANN, "tokens", limit=20) is None

    @awaited
    async def test_the_key_of_a_subject_belongs_to_the_account_of_the_person(self) -> None:
        keys, accounts, identities = await self.open_all()
        before = await keys.of_subject(ANN, "tokens", limit=20)
        account = await identities.sign_in(PERSON, "ann@example.org", creates=True)
        assert account is not None
        assert before is not None
        await self.wait_a_second()
        key = await keys.of_subject(ANN, "tokens", limit=20)
        assert key == evolve(before, owner=account.id)
        # It takes no place of a key with a secret.
        assert list(await keys.list(account.id)) == []
        await keys.create("laptop", limit=20, expires_at=None, owner=account.id, most=1)
        await accounts.disable(account.id)
        await self.wait_a_second()
        assert await keys.of_subject(ANN, "tokens", limit=20) is None
        await accounts.enable(account.id)
        await self.wait_a_second()
        assert await keys.of_subject(ANN, "tokens", limit=20) == key
        await accounts.delete(account.id)
        await self.wait_a_second()
        assert await keys.of_subject(ANN, "tokens", limit=20) == before

    @awaited
    async def test_a_new_key_of_a_subject_has_the_limit_of_the_account(self) -> None:
        keys, accounts, identities = await self.open_all()
        account = await identities.sign_in(PERSON, "ann@example.org", creates=True)
        assert account is not None
        await accounts.set_limit(account.id, 500)
        key = await keys.of_subject(ANN, "tokens", limit=20)
        assert key is not None
        assert (key.limit, key.owner) == (500, account.id)
