"""What RegistryTokens must do."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from attrs import evolve
from twisted.internet.task import Clock

from directory_server.domain.errors import BadInput, NotFound
from directory_server.domain.keys import RegistryToken
from directory_server.domain.ports.access import RegistryTokens

from . import awaited


class RegistryTokensContract:
    """Inherit it and say how they are opened."""

    @pytest.fixture(autouse=True)
    def _clock(self) -> None:
        self.clock = Clock()
        self.clock.advance(1_000_000)

    async def tokens(self, now: Callable[[], float]) -> RegistryTokens:
        """Return the tokens; each call is another process with the same data."""
        raise NotImplementedError

    async def open(self) -> RegistryTokens:
        return await self.tokens(self.clock.seconds)

    @awaited
    async def test_makes_a_token_that_its_secret_opens_in_every_process(self) -> None:
        one, other = await self.open(), await self.open()
        made, secret = await one.create("editors")
        assert made == RegistryToken(made.id, "editors", secret[-4:], 1_000_000.0, None)
        assert await one.find(secret) == await other.find(secret) == made

    @awaited
    async def test_gives_every_token_an_id_and_a_secret_of_its_own(self) -> None:
        tokens = await self.open()
        made = [await tokens.create("editors") for _ in range(5)]
        assert len({token.id for token, _ in made}) == len({secret for _, secret in made}) == 5
        assert all(token.id not in secret for token, secret in made)

    @awaited
    async def test_gives_secrets_that_stand_in_a_path_as_they_are(self) -> None:
        _, secret = await (await self.open()).create("editors")
        assert len(secret) >= 26
        assert secret.isascii()
        assert secret.isalnum()

    @awaited
    async def test_finds_nothing_by_what_is_no_secret(self) -> None:
        tokens = await self.open()
        made, secret = await tokens.create("editors")
        for wrong in ("", secret[:-1], f"{secret}x", secret.upper(), f" {secret}", made.id, "é", "\udcff", "\x00"):
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
    async def test_remembers_when_a_token_was_first_revoked(self) -> None:
        tokens = await self.open()
        made, _ = await tokens.create("editors")
        for _ in range(2):
            self.clock.advance(5)
            await tokens.revoke(made.id)
        assert list(await tokens.list()) == [evolve(made, revoked_at=1_000_005.0)]

    @awaited
    async def test_lists_every_token_oldest_first(self) -> None:
        tokens = await self.open()
        labels = ["c", "a", "b"]
        made = [(await tokens.create(label))[0] for label in labels]
        await tokens.revoke(made[0].id)
        assert [each.label for each in await tokens.list()] == labels

    @awaited
    async def test_revokes_no_token_that_there_is_not(self) -> None:
        with pytest.raises(NotFound, match="No token has the id 'abc'"):
            await (await self.open()).revoke("abc")

    @pytest.mark.parametrize("label", ["", "   ", "a\nb", "a\x00", "a" * 101])
    @awaited
    async def test_refuses_a_label_that_cannot_be_shown_and_makes_nothing(self, label: str) -> None:
        tokens = await self.open()
        with pytest.raises(BadInput, match="label: must be 1 to 100 printable characters"):
            await tokens.create(label)
        assert list(await tokens.list()) == []
