"""The catalogue: the directory within the scope of a request. Handlers for readers have no other way to entries."""

from __future__ import annotations

from typing import Protocol

from attrs import frozen

from ..domain.ports.access import Scopes
from ..domain.scopes import Scope
from .directory import Directory


class ScopedRequest(Protocol):
    """A request: the id of its client is known once it is authenticated."""

    scope: Scope
    list_name: str


@frozen
class Catalogue:
    """Gives each request the directory within its scope.

    `scopes` decide the scope when a request is authenticated; None if every reader sees all entries. A request that
    was not authenticated sees nothing.
    """

    _directory: Directory
    scopes: Scopes | None = None

    def of(self, request: ScopedRequest) -> Directory:
        """Return the directory for a request."""
        return self._directory if self.scopes is None else self._directory.within(request.scope)

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
