"""Search: the index and the use cases on entries."""

from __future__ import annotations

from attrs import frozen

from ..search import ImpactIndex
from ..services.directory import Directory
from ._runtime import Runtime
from ._storage import Storage


@frozen
class Search:
    """The search index, and the directory that reads it and the store."""

    index: ImpactIndex
    directory: Directory


def build_search(storage: Storage, runtime: Runtime) -> Search:
    """Return an empty index and the directory on it; the feed loads the index."""
    index = ImpactIndex(runtime.offload)
    return Search(index, Directory(storage.store, index, storage.bus))
