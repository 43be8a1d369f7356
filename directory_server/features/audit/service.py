"""The audit log of a server and of commands."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import define, field
from twisted.logger import Logger

from ...config import Config
from ...domain.audit import Actor, AuditEvent
from ...domain.errors import Unavailable
from ...domain.ports.audit import TRAIL, AuditTrail
from ...feature.server import SERVICES, WRITES, Server
from ...runtime.timers import Timer
from ...tables import Storage
from .head_file import HeadKeeper
from .settings import UPKEEP, AuditConfig
from .tables import AuditLog

_logger = Logger()

FLUSH = 2.0
"""Seconds between two writes of records of reads, and of the head."""

MAX_WAITING = 10_000
"""Records of reads in memory. Further ones are counted."""

BATCH = 500
"""Records of reads in one transaction."""


@define(eq=False)
class Trail:
    """Record events in the log."""

    _log: AuditLog
    _reads: Sequence[str]
    _waiting: list[AuditEvent] = field(factory=list, init=False)
    _lost: int = field(default=0, init=False)
    _lost_at: float = field(default=0.0, init=False)

    async def begin(self, event: AuditEvent) -> str:
        """Store an action before it is done; return its id. Raises Unavailable."""
        return await self._log.begin(event)

    async def finish(self, begun: str, event: AuditEvent) -> None:
        """Record an action with its outcome. An error is logged, and the action gets an unknown outcome later."""
        try:
            await self._log.add(event, begun=begun)
        except Unavailable as error:
            _logger.error(
                "The audit log cannot be written: {action}: {reason}", action=event.action, reason=error.message
            )

    def reads(self, route: str) -> bool:
        """Return whether reads of a route are recorded."""
        return any(route.startswith(beginning) for beginning in self._reads)

    def note_read(self, event: AuditEvent) -> None:
        """Record a read with the next `flush`."""
        if len(self._waiting) < MAX_WAITING:
            self._waiting.append(event)
        else:
            self._lost, self._lost_at = self._lost + 1, event.at

    async def flush(self) -> None:
        """Write the records of reads, and the number of those that were lost."""
        while self._waiting or self._lost:
            events, lost = self._waiting[:BATCH], self._lost
            if not events:
                after = f'{{"count":{lost}}}'
                events = [AuditEvent(self._lost_at, Actor("anonymous"), "reads not recorded", after=after)]
            try:
                await self._log.add(*events)
            except Unavailable as error:
                _logger.error("The audit log cannot be written: {reason}", reason=error.message)
                return
            if self._waiting:
                del self._waiting[: len(events)]
            else:
                self._lost -= lost


def run(server: Server) -> None:
    """Add the audit log."""
    settings, log = server.config.of(AuditConfig), AuditLog(server.storage.tables)
    trail, key = Trail(log, settings.reads), settings.key()

    async def keep_up_audit() -> None:
        """Write a checkpoint, finish abandoned actions, and delete old records."""
        if abandoned := await log.finish_abandoned(server.now()):
            _logger.warn("Actions with an unknown outcome in the audit log: {count}", count=abandoned)
        for problem in await log.forget(server.now(), settings.keep, settings.max_records, key):
            _logger.error("No old records of the audit log are deleted: {problem}", problem=problem)
        head = await log.check(server.now(), key)
        _logger.info("Head of the audit log: {head}", head=f"{head.number}:{head.hash}:{head.at}:{head.signature}")

    heads = HeadKeeper(settings.head_path(server.config.data_dir), log, key, server.offload)
    if settings.reads:
        server.add(SERVICES, Timer(FLUSH, trail.flush, server.reactor))
    if key:
        server.add(SERVICES, Timer(FLUSH, lambda: heads.write(server.now()), server.reactor))
    server.add(SERVICES, Timer(UPKEEP, keep_up_audit, server.reactor))
    server.add(WRITES, trail.flush)
    server.set(TRAIL, trail)


def command_trail(config: Config, storage: Storage) -> AuditTrail | None:
    """Return the audit log for commands; None without the setting."""
    settings = config.of(AuditConfig)
    return Trail(AuditLog(storage.tables), ()) if settings.enabled else None
