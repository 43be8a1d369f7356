"""What storage needs of the process and of the configuration."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from attrs import frozen

from ..config import Config
from ..domain.policy import PolicyRules
from ..domain.ports.runtime import MachineTime, Offload, Turn
from ..domain.publishing import SourceLimits
from ..runtime.machine import machine_time
from ..runtime.run_sync import inline
from ..runtime.turn import ImmediateTurn
from ..search import EntryPolicy


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


@runtime_checkable
class FilesOfState(Protocol):
    """The settings of a feature that writes files beside the databases, which a restore moves away with them."""

    @property
    def state_files(self) -> Sequence[str]:
        """Their names in the data directory."""


def feature_files(config: Config) -> Sequence[str]:
    """Return the names of the files of features in the data directory that belong to one state of the databases."""
    sections = [section for section in config.features.values() if isinstance(section, FilesOfState)]
    return [name for section in sections for name in section.state_files]


def policy_of(config: Config) -> EntryPolicy | None:
    """Return the policy of the rules in `config`, None without rules."""
    sections = config.features.values()
    rules = [section.rules for section in sections if isinstance(section, RuledEntries) and section.rules]
    return EntryPolicy(rules[0]) if rules else None


def source_limits(config: Config) -> Mapping[str, SourceLimits]:
    """Return the limits of each upstream and of the sources of features, by the name of the source."""
    limits = {source.name: SourceLimits(source.max_entries, source.max_bytes) for source in config.upstream}
    for section in config.features.values():
        if isinstance(section, LimitedSources):
            limits |= section.source_limits
    return limits


def upstream_names(config: Config) -> Sequence[str]:
    """Return the names of the upstreams in the order of precedence."""
    return [upstream.name for upstream in config.upstream]
