"""The record of all adapters that store, and what they need of the process."""

from __future__ import annotations

import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from attrs import frozen
from twisted.application.service import IService

from ..config import Config
from ..domain.policy import PolicyRules
from ..domain.ports.access import Attempts, Quota
from ..domain.ports.runtime import Bus, MachineTime, Offload, Turn
from ..domain.ports.storage import Store
from ..domain.publishing import SourceLimits
from ..domain.transfers import Restored
from ..machine import machine_time
from ..run_sync import inline
from ..search import EntryPolicy
from ..tables import (
    StoredAccounts,
    StoredCuration,
    StoredIdentities,
    StoredKeyRing,
    StoredKeyUses,
    StoredMirrors,
    StoredNewSecrets,
    StoredRegistryTokens,
    StoredRoster,
    StoredSessions,
    Tables,
)
from ..turn import ImmediateTurn


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
class Environment:
    """The parts of a process that storage uses.

    `now` and `wall` return seconds since the epoch. `now` does not jump when the time of day is set. `monotonic`
    returns seconds. The quota of a data directory counts by `machine_time`.
    `account_writes` runs writes to keys, accounts and sessions. `reactor` is None in commands, which need none.
    """

    reactor: Any
    now: Callable[[], float]
    wall: Callable[[], float]
    monotonic: Callable[[], float]
    machine_time: MachineTime
    offload: Offload
    account_writes: Offload
    turn: Turn
    pause: Callable[[float], object] | None = None
    """Waits between two transactions of an import; None to wait in the thread."""
    database_timer: Callable[[str], Callable[[float], None]] = lambda link: lambda seconds: None
    """Returns what gets the seconds from each statement on a link, `charges` or `reads`, to its answer."""
    lost: Callable[[str], None] = lambda reason: None
    """Called with the reason once the storage of a server was lost."""


def command_environment() -> Environment:
    """Return the environment of a command: everything runs in its thread."""
    return Environment(
        reactor=None,
        now=time.time,
        wall=time.time,
        monotonic=time.monotonic,
        machine_time=machine_time(),
        offload=inline,
        account_writes=inline,
        turn=ImmediateTurn(),
        pause=time.sleep,
    )


@runtime_checkable
class LimitedSources(Protocol):
    """The settings of a feature that publishes entries of sources of its own."""

    @property
    def source_limits(self) -> Mapping[str, SourceLimits]:
        """The limits of each source, by its name."""


@runtime_checkable
class RuledEntries(Protocol):
    """The settings of a feature with rules that hide entries."""

    @property
    def rules(self) -> PolicyRules:
        """The rules."""


def policy_of(config: Config) -> EntryPolicy | None:
    """Return the policy of the rules in `config`, None without rules."""
    sections = config.features.values()
    found = [section.rules for section in sections if isinstance(section, RuledEntries) and section.rules]
    return EntryPolicy(found[0]) if found else None


def source_limits(config: Config) -> Mapping[str, SourceLimits]:
    """Return the limits of each upstream and of the sources of features, by the name of the source."""
    limits = {each.name: SourceLimits(each.max_entries, each.max_bytes) for each in config.upstream}
    for section in config.features.values():
        if isinstance(section, LimitedSources):
            limits |= section.source_limits
    return limits


def upstream_names(config: Config) -> Sequence[str]:
    """Return the names of the upstreams in the order of precedence."""
    return [each.name for each in config.upstream]


@frozen
class Storage:
    """The stored data by subject, and the `tables` on which features have subjects of their own.

    No request waits for `background_tables`. `row_clock` returns the seconds since the epoch for times of rows that
    processes compare; it is None if the database's clock must give them.
    `statistics_tables` may be in a file whose faults do not count.

    `available` returns whether each file, or the database, can be used. `is_shared` means that all machines lose the
    storage together, so that no machine is better than another. `away_since` returns since when a shared storage cannot
    be used, in seconds since the epoch, None if it can. `serving` returns the services of a server. `serve` is called
    before they start. `session_secret` returns the secret that signs MCP sessions; it is created at the first start.
    `after_restore` prepares a restored backup for serving. `describe` returns lines for the command `status`.
    """

    is_shared: bool
    store: Store
    curation: StoredCuration
    mirrors: StoredMirrors
    keys: StoredKeyRing
    key_uses: StoredKeyUses
    quota: Quota
    accounts: StoredAccounts
    identities: StoredIdentities
    sessions: StoredSessions
    new_secrets: StoredNewSecrets
    roster: StoredRoster
    tables: Tables
    background_tables: Tables
    row_clock: Callable[[], float] | None
    statistics_tables: Tables
    registry_tokens: StoredRegistryTokens
    attempts: Attempts
    serving: Callable[[], Serving]
    session_secret: Callable[[], Coroutine[Any, Any, bytes]]
    after_restore: Callable[[Path | None], Coroutine[Any, Any, Restored]]
    describe: Callable[[], Coroutine[Any, Any, Sequence[str]]]
    available: Callable[[], Mapping[str, bool]]
    away_since: Callable[[], float | None]
    serve: Callable[[], None]
    close: Callable[[], None]
