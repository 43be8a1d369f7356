"""StoredRegistryTokens."""

from __future__ import annotations

import pytest
from attrs import evolve

from directory_server.domain.errors import BadInput, NotFound
from directory_server.domain.keys import RegistryToken
from directory_server.runtime.run_sync import run_sync
from directory_server.tables import StoredRegistryTokens, Tables

from ..contract import ContractWithClock, awaited
from .conftest import TablesTest, rows_of


class TestRegistryTokens(TablesTest, ContractWithClock):
    async def open(self) -> StoredRegistryTokens:
        return StoredRegistryTokens(self.open_tables(), self.clock.seconds)

    @awaited
    async def test_a_secret_finds_its_token_in_every_process(self) -> None:
        one, other = await self.open(), await self.open()
        token, secret = await one.create("editors")
        assert token == RegistryToken(token.id, "editors", secret[-4:], 1_000_000.0, None)
        assert await one.find(secret) == await other.find(secret) == token

    @awaited
    async def test_ids_and_secrets_are_unique(self) -> None:
        tokens = await self.open()
        created = [await tokens.create("editors") for _ in range(5)]
        assert len({token.id for token, _ in created}) == len({secret for _, secret in created}) == 5
        assert all(token.id not in secret for token, secret in created)

    @awaited
    async def test_secrets_need_no_quoting_in_a_path(self) -> None:
        _, secret = await (await self.open()).create("editors")
        assert len(secret) >= 26
        assert secret.isascii()
        assert secret.isalnum()

    @awaited
    async def test_finds_nothing_by_an_invalid_secret(self) -> None:
        tokens = await self.open()
        token, secret = await tokens.create("editors")
        for wrong in ("", secret[:-1], f"{secret}x", secret.upper(), f" {secret}", token.id, "é", "\udcff", "\x00"):
            assert await tokens.find(wrong) is None

    @awaited
    async def test_ends_a_token_that_is_revoked_in_every_process(self) -> None:
        one, other = await self.open(), await self.open()
        ended, secret = await one.create("editors")
        kept, other_secret = await one.create("others")
        self.clock.advance(5)
        await other.revoke(ended.id)
        assert await one.find(secret) is None
        assert await one.find(other_secret) == kept

    @awaited
    async def test_revoking_again_keeps_the_first_time(self) -> None:
        tokens = await self.open()
        token, _ = await tokens.create("editors")
        for _ in range(2):
            self.clock.advance(5)
            await tokens.revoke(token.id)
        assert list(await tokens.list()) == [evolve(token, revoked_at=1_000_005.0)]

    @awaited
    async def test_lists_every_token_oldest_first(self) -> None:
        tokens = await self.open()
        labels = ["c", "a", "b"]
        created = [(await tokens.create(label))[0] for label in labels]
        await tokens.revoke(created[0].id)
        assert [each.label for each in await tokens.list()] == labels

    @awaited
    async def test_raises_not_found_for_an_unknown_token(self) -> None:
        with pytest.raises(NotFound, match="No token has the id 'abc'"):
            await (await self.open()).revoke("abc")

    @pytest.mark.parametrize("label", ["", "   ", "a\nb", "a\x00", "a" * 101])
    @awaited
    async def test_rejects_an_invalid_label_and_stores_nothing(self, label: str) -> None:
        tokens = await self.open()
        with pytest.raises(BadInput, match="label: must be 1 to 100 printable characters"):
            await tokens.create(label)
        assert list(await tokens.list()) == []


def test_the_secret_is_not_stored(tables: Tables) -> None:
    _, secret = run_sync(StoredRegistryTokens(tables, lambda: 0.0).create("editors"))
    stored = str(rows_of(tables, "SELECT * FROM registry_token"))
    assert "editors" in stored
    assert secret not in stored
