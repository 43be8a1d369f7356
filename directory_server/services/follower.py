"""Followers: what is derived from the change log, kept in step with it by one process at a time."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import suppress
from secrets import token_hex
from typing import Any, Protocol

from twisted.internet.defer import Deferred

from ..domain.changes import Change
from ..domain.errors import Unavailable
from ..domain.ports.storage import Store
from ..runtime.timers import Timer
from ..tables import Position, StoredFollowers, StoredWork
from .work_report import reported

INTERVAL = 1.0
"""Seconds between two looks for changes."""

LEASE = 120.0
"""Seconds for which a process may work without renewing its lease. After a crash another one continues then."""

BATCH, BATCH_BYTES = 500, 2_000_000
"""Changes, and about the bytes of entries, that are applied at a time."""

Apply = Callable[[Sequence[Change]], Awaitable[bool]]
"""Derives from changes, in their order; returns whether processes should look for new changes of entries."""


class Followed(Protocol):
    """The storage of a follower."""

    @property
    def store(self) -> Store: ...

    @property
    def followers(self) -> StoredFollowers: ...

    @property
    def work(self) -> StoredWork: ...


class Later(Exception):
    """Nothing can be derived for some `seconds`."""

    def __init__(self, seconds: float) -> None:
        super().__init__(seconds)
        self.seconds = seconds


async def _nothing() -> bool:
    return False


async def _no_version() -> str:
    return ""


async def unleased() -> bool:
    """Return True, as `LeasedTimer.hold` does: for work that a command does without a lease."""
    return True


async def all_entries(store: Store, *, ruled: bool = True) -> AsyncIterator[Sequence[Change]]:
    """Yield all visible entries in batches; those that a rule of the policy hides are among them if `ruled`."""
    after = ""
    while page := await store.current(after, BATCH, BATCH_BYTES, ruled=ruled):
        yield page
        after = page[-1].mcp_id


class LeasedTimer(Timer):
    """Calls `function` every `interval` seconds of `clock` in the process that holds the lease `name`.

    It holds the lease until it stops, so that processes with different settings do not take turns. `cancels` is as for
    Timer.
    """

    def __init__(
        self,
        followers: StoredFollowers,
        clock: Any,
        name: str,
        function: Callable[[], Awaitable[None]],
        *,
        seconds: float = LEASE,
        interval: float = INTERVAL,
        cancels: bool = False,
    ) -> None:
        super().__init__(interval, self.update, clock, finish=self.release, cancels=cancels)
        self.name: str = name
        self.position = Position()
        self._work, self._followers, self._clock = function, followers, clock
        self._holder, self._seconds = token_hex(8), seconds
        self._held_until = float("-inf")
        self._is_stopping = False

    def startService(self) -> None:
        self._is_stopping = False
        super().startService()

    def stopService(self) -> Deferred[object] | None:
        self._is_stopping = True
        return super().stopService()

    async def update(self) -> None:
        """Work once, unless another process does. Raises Unavailable."""
        self.position = await self._followers.find(self.name, self._holder, seconds=self._seconds)
        if self.position.is_held:
            self._held_until = float("-inf")
        elif await self.hold():
            await self._work()

    async def hold(self) -> bool:
        """Renew the lease if half of it has passed; return False if another process has it, or the service stops."""
        now = self._clock.seconds()
        if now + self._seconds / 2 > self._held_until:
            is_held = await self._followers.hold(self.name, self._holder, seconds=self._seconds)
            self._held_until = now + self._seconds if is_held else float("-inf")
        return bool(self._held_until > now) and not self._is_stopping

    async def advance(self, log: str, seq: int, version: str) -> bool:
        """Store the position, and renew the lease as `hold` does."""
        position = Position(log, seq, version)
        if not await self._followers.advance(self.name, self._holder, position):
            self._held_until = float("-inf")
            return False
        return await self.hold()

    async def release(self) -> None:
        """Release the lease, so that another process continues at once."""
        self._held_until = float("-inf")
        # It ends by itself.
        with suppress(Unavailable):
            await self._followers.release(self.name, self._holder)


class Follower(LeasedTimer):
    """Calls `apply` with each change after those that were applied, in the process that holds the lease `name`.

    With another `version`, that of rules, settings or software, or another log, it calls `begin`, then `apply` with all
    entries, then `complete`. Changes after the stored position follow: they may be of entries that are not there any
    more. What is derived `in_memory` ends with the lease. With `once`, `apply` gets all entries of a new version and no
    changes. `prepare` is called first at each look. It and `complete` return the same as `apply`. Entries that a rule
    of the policy hides are applied if `ruled`. A change may be applied twice. What raises an exception is tried again.
    """

    def __init__(
        self,
        storage: Followed,
        clock: Any,
        announce: Callable[[], None],
        name: str,
        apply: Apply,
        *,
        version: Callable[[], Awaitable[str]] = _no_version,
        prepare: Callable[[], Awaitable[bool]] = _nothing,
        begin: Callable[[], None] = lambda: None,
        complete: Callable[[], Awaitable[bool]] = _nothing,
        in_memory: bool = False,
        once: bool = False,
        ruled: bool = True,
        seconds: float = LEASE,
        interval: float = INTERVAL,
        cancels: bool = False,
    ) -> None:
        super().__init__(
            storage.followers, clock, name, self._follow, seconds=seconds, interval=interval, cancels=cancels
        )
        self._store, self._stored_work, self._announce = storage.store, storage.work, announce
        self._prepare, self._begin, self._apply, self._complete = prepare, begin, apply, complete
        self._version, self._once, self._ruled = version, once, ruled
        self._memory = f"{token_hex(8)} " if in_memory else ""
        self._later = float("-inf")

    async def _follow(self) -> None:
        if self._clock.seconds() < self._later:
            return
        try:
            self._tell(await self._prepare())
            version, store, at = self._memory + await self._version(), self._store, self.position
            log, head = await store.log_id(), await store.head()
            is_known = (at.log, at.version) == (log, version)
            if not is_known or (at.seq != head and not await store.oldest() - 1 <= at.seq <= head):
                at = Position(log, min(at.seq, head) if at.log else head, version)
                if not (await self._apply_all() and await self.advance(log, at.seq, version)):
                    return
            seq = at.seq
            while not self._once and (changes := await store.changes(seq, BATCH, BATCH_BYTES, ruled=self._ruled)):
                self._tell(await self._apply(changes))
                seq = changes[-1].seq
                if not await self.advance(log, seq, version):
                    return
        except Later as later:
            self._later = self._clock.seconds() + later.seconds
        except Exception:
            # A change may be half applied to what is in memory.
            self._memory = self._memory and f"{token_hex(8)} "
            raise

    async def _apply_all(self) -> bool:
        """Apply all entries; return False if the lease has ended. Another process then begins again."""
        self._begin()
        done, total = 0, await self._store.count()
        async with reported(self._stored_work, f"follow {self.name}", self._clock.seconds) as report:
            async for page in all_entries(self._store, ruled=self._ruled):
                self._tell(await self._apply(page))
                if not await self.hold():
                    return False
                done += len(page)
                report(done, max(done, total))
        self._tell(await self._complete())
        return True

    def _tell(self, is_changed: bool) -> None:
        if is_changed:
            self._announce()
