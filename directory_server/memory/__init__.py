"""In-memory adapters of the ports, for tests. They store nothing on disk and serve one thread."""

from __future__ import annotations

from ._access import AccessData
from ._accounts import MemoryAccounts
from ._attempts import MemoryAttempts
from ._bus import BusGroup, MemoryBus
from ._catalogue import Catalogue
from ._keys import MemoryKeyRing, MemoryKeyUses, MemoryNewSecrets, MemoryRegistryTokens
from ._mirrors import MemoryMirrors
from ._publishers import MemoryPublicationLog, MemoryPublisherTokens
from ._quota import MemoryQuota
from ._reports import MemoryReports
from ._roster import MemoryRoster
from ._sessions import MemorySessions
from ._statistics import MemoryStatistics
from ._store import MemoryCuration, MemoryStore
from ._verifications import MemoryVerifications, TargetData

__all__ = [
    "AccessData",
    "BusGroup",
    "Catalogue",
    "MemoryAccounts",
    "MemoryAttempts",
    "MemoryBus",
    "MemoryCuration",
    "MemoryKeyRing",
    "MemoryKeyUses",
    "MemoryMirrors",
    "MemoryNewSecrets",
    "MemoryPublicationLog",
    "MemoryPublisherTokens",
    "MemoryQuota",
    "MemoryRegistryTokens",
    "MemoryReports",
    "MemoryRoster",
    "MemorySessions",
    "MemoryStatistics",
    "MemoryStore",
    "MemoryVerifications",
    "TargetData",
]
