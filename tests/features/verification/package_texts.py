"""Contract of Verifications: the texts of packages, which entries share."""

from __future__ import annotations

from attrs import evolve

from directory_server.domain.checks import PackageStatus, PackageTexts
from directory_server.domain.entries import mcp_id_of
from directory_server.features.verification.results import PackageCheck
from directory_server.serialization import encode_texts

from ...contract import awaited
from ...contract.store import entry
from .contracts import SETTINGS, MovedStepContract, by_id, package

TEXTS = PackageTexts("Forecasts.", ("weather",), "Ask for storms.")

NAMES = ("x/a", "x/b")


class PackageTextsContract(MovedStepContract):
    """Subclasses count the stored texts."""

    async def texts(self) -> int:
        """Return the number of stored texts of packages."""
        raise NotImplementedError

    def read(self, texts: PackageTexts | None) -> PackageCheck:
        """Return a check of the package, which exists and has `texts`."""
        return PackageCheck("npm", "a", "1.0.0", self.clock.seconds(), PackageStatus.EXISTS, texts=texts)

    @awaited
    async def test_entries_with_the_same_package_share_its_texts(self) -> None:
        verifications, store = await self.verifications(), await self.store()
        await store.publish("x", [entry(name) for name in NAMES])
        await verifications.put_targets(by_id(*map(package, NAMES)))
        for name in NAMES:
            assert await verifications.record(package(name), self.read(TEXTS), SETTINGS)
        for changes in (await store.current("", 9), (await store.changes(0, 9))[-2:]):
            assert [each.texts for each in changes] == [encode_texts(TEXTS)] * 2
        assert await self.texts() == 1
        # The state names the texts.
        [state] = await verifications.states(mcp_id_of("x/a"))
        assert (state.texts, state.check) == (TEXTS.id, self.read(None))
        # The same texts, and a check that has read none, are no change.
        for unchanged in (TEXTS, None):
            assert not await verifications.record(package("x/a"), self.read(unchanged), SETTINGS)
        other = evolve(TEXTS, readme="Ask for tides.")
        assert await verifications.record(package("x/a"), self.read(other), SETTINGS)
        assert await self.texts() == 2
        found = {each.mcp_id: each.texts for each in await store.current("", 9)}
        assert found == {mcp_id_of("x/a"): encode_texts(other), mcp_id_of("x/b"): encode_texts(TEXTS)}

    @awaited
    async def test_texts_that_no_target_has_are_deleted(self) -> None:
        verifications, store = await self.verifications(), await self.store()
        await store.publish("x", [entry(name) for name in NAMES])

        async def recorded() -> None:
            await verifications.put_targets(by_id(*map(package, NAMES)))
            for name in NAMES:
                await verifications.record(package(name), self.read(TEXTS), SETTINGS)
            assert await self.texts() == 1

        await recorded()
        for name, count in zip(NAMES, (1, 0), strict=True):
            await verifications.put_targets({mcp_id_of(name): []})
            assert await self.texts() == count
        await recorded()
        for name, count in zip(NAMES, (1, 0), strict=True):
            assert await verifications.forget([name]) == 1
            assert await self.texts() == count
        assert [each.texts for each in await store.current("", 9)] == [None, None]
        await recorded()
        for name, count in zip(NAMES, (1, 0), strict=True):
            await verifications.record(package(name), self.read(PackageTexts()), SETTINGS)
            assert await self.texts() == count
