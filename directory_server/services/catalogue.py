"""The catalogue: the directory within the scope of a request. Handlers for readers have no other way to entries."""

from __future__ import annotations

from typing import Protocol

from attrs import define, field

from ..domain.ports.access import Scopes
from ..domain.scopes import Scope
from .directory import Directory

MAX_SCOPES = 100
"""Scopes whose directory is kept in memory."""


class ScopedRequest(Protocol):
    """A request: the id of its client is known once it is authenticated."""

    scope: Scope
    list_name: str


@define(eq=False)
class Catalogue:
    """Gives each request the directory within its scope.

    `scopes` decide the scope when a request is authenticated; None if every reader sees all entries. A request that
    was not authenticated sees nothing.
    """

    _directory: Directory
    scopes: Scopes | None = None
    _within: dict[Scope, Directory] = field(factory=dict, init=False, repr=False)
    """Directories by scope, because their creation takes longer than most requests spend in them."""

    def of(self, request: ScopedRequest) -> Directory:
        if self.scopes is None:
            return self._directory
        directory = self._within.get(request.scope)
        if directory is None:
            if len(self._within) >= MAX_SCOPES:
                del self._within[next(iter(self._within))]
            directory = self._within[request.scope] = self._directory.within(request.scope)
        return directory

    def scope_of(self, request: ScopedRequest) -> Scope:
        """Return the scope of a request, as a part of the keys of caches and streams."""
        return scope_of(self.scopes, request)


def scope_of(scopes: Scopes | None, request: ScopedRequest) -> Scope:
    """Return the scope of a request, None without `scopes`."""
    return None if scopes is None else request.scope


async def decide_scope(scopes: Scopes | None, request: ScopedRequest, reader: str | None) -> None:
    """Set the scope of a request of the account or key `reader`. Raises NotFound for a list that it may not see."""
    if scopes is not None:
        request.scope = await scopes.of(reader, request.list_name)
