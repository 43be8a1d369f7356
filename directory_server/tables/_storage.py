"""The record of all adapters that store."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import frozen

from ..domain.ports.access import Attempts, Quota
from ..domain.ports.runtime import Bus
from ..domain.ports.storage import Store
from ..domain.transfers import Restored
from ._accounts import StoredAccounts
from ._curation import StoredCuration
from ._followers import StoredFollowers
from ._identities import StoredIdentities
from ._key_cache import KeyCache
from ._key_uses import StoredKeyUses
from ._keyring import StoredKeyRing
from ._mirrors import StoredMirrors
from ._registry_tokens import StoredRegistryTokens
from ._roster import StoredRoster
from ._sessions import StoredNewSecrets, StoredSessions
from ._tables import Tables
from ._work import StoredWork

if TYPE_CHECKING:
    from twisted.application.service import IService


@frozen
class Serving:
    """The services of storage in a server: `bus_service` is the `bus`, `services` are periodic tasks.

    `head` returns the last change of the log that this process knows of; it is None if the storage is not shared.
    """

    bus: Bus
    bus_service: IService
    services: Sequence[IService]
    head: Callable[[], int] | None = None


@frozen
class People:
    """Who may do what, and how often: keys, accounts, sessions and tokens."""

    keys: StoredKeyRing
    key_uses: StoredKeyUses
    quota: Quota
    accounts: StoredAccounts
    identities: StoredIdentities
    sessions: StoredSessions
    new_secrets: StoredNewSecrets
    roster: StoredRoster
    registry_tokens: StoredRegistryTokens
    attempts: Attempts


def people(
    tables: Tables,
    now: Callable[[], float],
    cache: KeyCache,
    quota: Quota,
    attempts: Attempts,
    idle: float,
    absolute: float,
) -> People:
    """Return the people in `tables`. A session lasts `idle` seconds without a request, and `absolute` at most."""
    return People(
        keys=StoredKeyRing(tables, now, cache),
        key_uses=StoredKeyUses(tables),
        quota=quota,
        accounts=StoredAccounts(tables, now),
        identities=StoredIdentities(tables, now),
        sessions=StoredSessions(tables, now, idle, absolute),
        new_secrets=StoredNewSecrets(tables, now),
        roster=StoredRoster(tables),
        registry_tokens=StoredRegistryTokens(tables, now),
        attempts=attempts,
    )


@frozen
class Control:
    """What a process does with its storage as a whole.

    `available` returns whether each file, or the database, can be used. `away_since` returns since when a shared
    storage cannot be used, in seconds since the epoch, None if it can. `serving` returns the services of a server.
    `serve` is called before they start. `session_secret` returns the secret that signs MCP sessions; it is created at
    the first start. `after_restore` prepares a restored backup for serving. `describe` returns lines for the command
    `status`.
    """

    serving: Callable[[], Serving]
    session_secret: Callable[[], Coroutine[Any, Any, bytes]]
    after_restore: Callable[[Path | None], Coroutine[Any, Any, Restored]]
    describe: Callable[[], Coroutine[Any, Any, Sequence[str]]]
    available: Callable[[], Mapping[str, bool]]
    away_since: Callable[[], float | None]
    serve: Callable[[], None]
    close: Callable[[], None]


@frozen
class Storage:
    """The stored data by subject, and the `tables` on which features have subjects of their own.

    No request waits for `background_tables`. `row_clock` returns the seconds since the epoch for times of rows that
    processes compare; it is None if the database's clock must give them.
    `statistics_tables` may be in a file whose faults do not count. `is_shared` means that all machines lose the
    storage together, so that no machine is better than another.
    """

    is_shared: bool
    store: Store
    curation: StoredCuration
    mirrors: StoredMirrors
    followers: StoredFollowers
    work: StoredWork
    people: People
    control: Control
    tables: Tables
    background_tables: Tables
    statistics_tables: Tables
    row_clock: Callable[[], float] | None

    def close(self) -> None:
        """Close the connections and end the threads."""
        self.control.close()
