"""In-memory adapters of the ports, for tests. They store nothing on disk and serve one thread."""

from __future__ import annotations

from ._accounts import MemoryAccounts, MemorySessions
from ._bus import BusGroup, MemoryBus
from ._data import AccessData
from ._keyring import MemoryKeyRing
from ._new_secrets import MemoryNewSecrets
from ._quota import MemoryQuota
from ._registry_tokens import MemoryRegistryTokens

__all__ = [
    "AccessData",
    "BusGroup",
    "MemoryAccounts",
    "MemoryBus",
    "MemoryKeyRing",
    "MemoryNewSecrets",
    "MemoryQuota",
    "MemoryRegistryTokens",
    "MemorySessions",
]
