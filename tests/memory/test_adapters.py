"""The in-memory adapters pass the contracts of their ports."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count

import pytest

from directory_server.memory import (
    AccessData,
    BusGroup,
    Catalogue,
    MemoryAccounts,
    MemoryAttempts,
    MemoryBus,
    MemoryCuration,
    MemoryKeyRing,
    MemoryKeyUses,
    MemoryMirrors,
    MemoryNewSecrets,
    MemoryPublicationLog,
    MemoryPublisherTokens,
    MemoryQuota,
    MemoryRegistryTokens,
    MemoryReports,
    MemoryRoster,
    MemorySessions,
    MemoryStatistics,
    MemoryStore,
    MemoryVerifications,
    TargetData,
)

from ..contract import in_turn
from ..contract.accounts import ABSOLUTE, IDLE, AccountsContract
from ..contract.attempts import AttemptsContract
from ..contract.bus import BusContract
from ..contract.change_log import ChangeLogContract
from ..contract.imports import ImportsContract
from ..contract.key_uses import KeyUsesContract
from ..contract.keyring import KeyRingContract
from ..contract.listing import ListingContract
from ..contract.mirrors import MirrorsContract
from ..contract.new_secrets import NewSecretsContract
from ..contract.owned_keys import OwnedKeysContract
from ..contract.publishers import PublicationLogContract, PublisherTokensContract
from ..contract.quota import QuotaContract
from ..contract.registry_tokens import RegistryTokensContract
from ..contract.reports import ReportsContract
from ..contract.roster import RosterContract
from ..contract.sessions import SessionsContract
from ..contract.statistics import StatisticsContract
from ..contract.store import Briefs, StoreContract
from ..contract.store_versions import StoreVersionsContract
from ..contract.verifications import VerificationsContract

Now = Callable[[], float]


class AccessDataTest:
    """Base of the tests of adapters on shared AccessData."""

    data: AccessData

    @pytest.fixture(autouse=True)
    def _data(self) -> None:
        self.data = AccessData()


class TestMemoryAttempts(AttemptsContract):
    at_once = staticmethod(in_turn)

    @pytest.fixture(autouse=True)
    def _attempts(self, _clock: None) -> None:
        self.one = MemoryAttempts(self.clock.seconds)

    async def attempts(self, now: Now) -> MemoryAttempts:
        return self.one


class TestMemoryBus(BusContract):
    @pytest.fixture(autouse=True)
    def _group(self) -> None:
        self.group = BusGroup()

    async def bus(self) -> MemoryBus:
        return MemoryBus(self.group)

    async def write(self) -> None:
        MemoryBus(self.group).announce()

    async def wait_a_second(self) -> None:
        pass


class TestMemoryQuota(QuotaContract):
    @pytest.fixture(autouse=True)
    def _spent(self) -> None:
        self.spent: dict[str, list[float]] = {}

    async def quota(self, wall: Now, uptime: Now) -> MemoryQuota:
        return MemoryQuota(self.spent, uptime, wall)


class TestMemoryKeyRing(AccessDataTest, KeyRingContract, OwnedKeysContract):
    async def keys(self, now: Now) -> MemoryKeyRing:
        return MemoryKeyRing(self.data, now)

    async def accounts(self, now: Now) -> MemoryAccounts:
        return MemoryAccounts(self.data, now)


class TestMemoryKeyUses(AccessDataTest, KeyUsesContract):
    async def adapters(self, now: Now) -> tuple[MemoryKeyUses, MemoryKeyRing, MemoryAccounts]:
        return MemoryKeyUses(self.data), MemoryKeyRing(self.data, now), MemoryAccounts(self.data, now)


class TestMemoryRegistryTokens(AccessDataTest, RegistryTokensContract):
    async def tokens(self, now: Now) -> MemoryRegistryTokens:
        return MemoryRegistryTokens(self.data, now)


class TestMemoryPublisherTokens(AccessDataTest, PublisherTokensContract):
    async def tokens(self, now: Now) -> MemoryPublisherTokens:
        return MemoryPublisherTokens(self.data, now)


class TestMemoryPublicationLog(AccessDataTest, PublicationLogContract):
    async def log(self, size: int) -> MemoryPublicationLog:
        return MemoryPublicationLog(self.data, size)


class TestMemoryAccounts(AccessDataTest, AccountsContract, SessionsContract):
    async def accounts_and_sessions(self, now: Now) -> tuple[MemoryAccounts, MemorySessions]:
        return MemoryAccounts(self.data, now), MemorySessions(self.data, now, IDLE, ABSOLUTE)


class TestMemoryNewSecrets(AccessDataTest, NewSecretsContract):
    async def secrets_and_keys(self, now: Now) -> tuple[MemoryNewSecrets, MemoryKeyRing]:
        return MemoryNewSecrets(self.data, now), MemoryKeyRing(self.data, now)


class TestMemoryReports(ReportsContract):
    at_once = staticmethod(in_turn)

    @pytest.fixture(autouse=True)
    def _reports(self) -> None:
        self.one = MemoryReports()

    async def reports(self) -> MemoryReports:
        return self.one


class TestMemoryStore(StoreContract, StoreVersionsContract, ChangeLogContract):
    at_once = staticmethod(in_turn)

    @pytest.fixture(autouse=True)
    def _catalogue(self) -> None:
        self.catalogue = Catalogue(lambda: 1_000_000.0)

    async def store(self, sources: Sequence[str] = (), version: str = "1") -> MemoryStore:
        return MemoryStore(self.catalogue, Briefs(version), sources)


class TestMemoryImports(ImportsContract):
    @pytest.fixture(autouse=True)
    def _catalogue(self) -> None:
        self.catalogue = Catalogue(lambda: 1_000_000.0)

    async def store(self, sources: Sequence[str] = ()) -> MemoryStore:
        return MemoryStore(self.catalogue, Briefs(), sources)

    async def curation(self) -> MemoryCuration:
        return MemoryCuration(self.catalogue, ["up"])


class TestMemoryListing(ListingContract):
    @pytest.fixture(autouse=True)
    def _catalogue(self) -> None:
        self.catalogue = Catalogue(count(1_000_000.0).__next__)

    async def store(self, sources: Sequence[str] = ()) -> MemoryStore:
        return MemoryStore(self.catalogue, Briefs(), sources)

    async def curation(self, sources: Sequence[str] = ()) -> MemoryCuration:
        return MemoryCuration(self.catalogue, sources)


class TestMemoryMirrors(MirrorsContract):
    at_once = staticmethod(in_turn)

    @pytest.fixture(autouse=True)
    def _catalogue(self) -> None:
        self.catalogue = Catalogue(lambda: 1_000_000.0)

    async def mirrors(self) -> MemoryMirrors:
        return MemoryMirrors(self.catalogue, self.clock.seconds)

    async def store(self) -> MemoryStore:
        return MemoryStore(self.catalogue, Briefs())


class TestMemoryRoster(AccessDataTest, RosterContract):
    async def roster(self, now: Now) -> tuple[MemoryRoster, MemoryAccounts, MemoryKeyRing]:
        return MemoryRoster(self.data), MemoryAccounts(self.data, now), MemoryKeyRing(self.data, now)


class TestMemoryVerifications(VerificationsContract):
    at_once = staticmethod(in_turn)

    @pytest.fixture(autouse=True)
    def _catalogue(self) -> None:
        self.catalogue, self.data = Catalogue(lambda: 1_000_000.0), TargetData()

    async def verifications(self) -> MemoryVerifications:
        return MemoryVerifications(self.catalogue, self.data, self.clock.seconds)

    async def store(self) -> MemoryStore:
        return MemoryStore(self.catalogue, Briefs())


class TestMemoryStatistics(StatisticsContract):
    @pytest.fixture(autouse=True)
    def _statistics(self) -> None:
        self.one = MemoryStatistics()

    async def statistics(self) -> MemoryStatistics:
        return self.one
