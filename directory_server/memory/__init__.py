"""In-memory adapters of the ports, for tests. They store nothing on disk and serve one thread."""

from __future__ import annotations

from ._accounts import MemoryAccounts, MemorySessions
from ._bus import BusGroup, MemoryBus
from ._catalogue import Catalogue
from ._data import AccessData
from ._keyring import MemoryKeyRing
from ._mirrors import MemoryMirrors
from ._new_secrets import MemoryNewSecrets
from ._quota import MemoryQuota
from ._registry_tokens import MemoryRegistryTokens
from ._store import MemoryCuration, MemoryStore

__all__ = [
    "AccessData",
    "BusGroup",
    "Catalogue",
    "MemoryAccounts",
    "MemoryBus",
    "MemoryCuration",
    "MemoryKeyRing",
    "MemoryMirrors",
    "MemoryNewSecrets",
    "MemoryQuota",
    "MemoryRegistryTokens",
    "MemorySessions",
    "MemoryStore",
]
