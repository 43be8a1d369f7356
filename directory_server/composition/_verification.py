"""Verification: the checks of remotes and packages, and the summaries that requests read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from secrets import token_hex
from typing import Any

from twisted.application.service import IService

from ..config import Config
from ..domain.patterns import NamePatterns
from ..domain.ports.runtime import Offload
from ..domain.targets import Policy, TargetKind
from ..serialization import restore_entry
from ..services.checks import Checked, Checkers, Checks, Limits
from ..services.target_planner import TargetPlanner
from ..services.verified_entries import REFRESH_INTERVAL
from ..services.verifier import Verifier
from ..storage import Storage
from ..timers import Timer
from ._core import Core


def verification(core: Core) -> Sequence[IService]:
    """Return the services that check what the configuration selects, and that read new summaries."""
    verifier = _verifier(core)
    core.metrics.checks.watch(lambda: core.verified.counts, verifier)
    refresh = Timer(REFRESH_INTERVAL, core.verified.refresh, core.reactor)
    return [refresh] if verifier is None else [refresh, verifier]


def _verifier(core: Core) -> Verifier | None:
    """Return the service that checks; None if the configuration selects nothing."""
    config, runtime, storage = core.config, core.runtime, core.storage
    selected = {TargetKind.REMOTE: config.verify.remotes, TargetKind.PACKAGE: config.verify.packages}
    kinds = [kind for kind, is_selected in selected.items() if is_selected]
    if not kinds or runtime.checkers is None:
        return None
    holder = token_hex(8)
    observers: list[Callable[[Checked], None]] = [core.metrics.checks.observe]

    def observe(checked: Checked) -> None:
        for observer in observers:
            observer(checked)
        if checked.is_change:
            core.serving.bus.announce()

    checks = checks_of(config, storage, runtime.checkers(config), core.reactor, runtime.now, observe)
    planner = planner_of(config, storage, runtime.offload, holder)
    verifier = Verifier(planner, checks, storage.verifications, holder, kinds, core.reactor)
    observers.append(verifier.observe)
    return verifier


def planner_of(config: Config, storage: Storage, offload: Offload, holder: str) -> TargetPlanner:
    """Return what derives the remotes and packages to check; `holder` identifies the process."""
    patterns = NamePatterns(config.verify.include, config.verify.exclude)
    return TargetPlanner(storage.store, storage.verifications, restore_entry, offload, holder, patterns)


def checks_of(
    config: Config,
    storage: Storage,
    checkers: Checkers,
    reactor: Any,
    now: Callable[[], float],
    observe: Callable[[Checked], None],
) -> Checks:
    """Return the checks of a process within the limits of `config`; `observe` gets each check."""
    verify = config.verify
    policy = Policy(
        remotes=verify.remotes_interval,
        packages=verify.packages_interval,
        retry=verify.retry,
        down_after=verify.down_after,
        history=verify.history,
    )
    limits = Limits(verify.per_minute, verify.concurrency, verify.per_host)
    return Checks(storage.verifications, checkers, reactor, now, policy, limits, observe)
