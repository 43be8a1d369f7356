"""The current dump: made when a client asks for one, by one process of the machine at a time."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from attrs import define, field
from twisted.internet.defer import Deferred, TimeoutError
from twisted.internet.task import deferLater
from twisted.logger import Logger

from ...domain.errors import Unavailable
from ...domain.ports.runtime import Offload
from ...domain.ports.storage import Store
from ...http.errors import HttpError
from ...services.directory import Directory
from ...texts.wording import entries
from .files import Draft, Dump, TooLarge, newest, open_draft
from .settings import DumpConfig

WAIT = 20.0
"""Seconds that a request waits for a new dump."""

RETRY = 30
"""Seconds after which a client should ask again."""

LOOK = 0.5
"""Seconds between two looks for the dump that another process makes."""

LOOKS = 7_200
"""Looks after which that process counts as stuck."""

PAGE, PAGE_BYTES = 200, 500_000
"""Versions, and about their bytes, that are encoded and compressed at a time. 500,000 bytes take 30 ms in a thread."""


@define(eq=False, repr=False)
class Dumps:
    """The dump of a folder. With `curated`, only of curated entries. `clock` runs the waiting.

    `now` returns seconds since the epoch.
    """

    _log = Logger()

    _folder: Path
    _settings: DumpConfig
    _store: Store
    _directory: Directory
    _offload: Offload
    _clock: Any
    _now: Callable[[], float]
    _curated: bool = field(kw_only=True)
    _waiting: list[Deferred[Dump]] | None = field(default=None, init=False)
    """The requests that wait for the dump that this process makes; None if it makes none."""

    async def current(self) -> Dump:
        """Return a dump of all changes, or one that is at most `max_age` old. Make it if there is none.

        Raises HttpError if that takes longer than WAIT seconds, and Unavailable.
        """
        dump = await self._usable()
        if dump is not None:
            return dump
        waiting: Deferred[Dump] = Deferred()
        if self._waiting is None:
            self._waiting = [waiting]
            Deferred.fromCoroutine(self._build_for_all())
        else:
            self._waiting.append(waiting)
        try:
            return await waiting.addTimeout(WAIT, self._clock)
        except TimeoutError:
            raise HttpError(
                503, "unavailable", "The dump is being made. Try again later.", {"Retry-After": str(RETRY)}
            ) from None

    async def _usable(self) -> Dump | None:
        dump = await self._offload(newest, self._folder)
        if dump is None or dump.log != await self._store.log_id():
            return None
        is_young = 0 <= self._now() - dump.date < self._settings.max_age
        return dump if is_young or dump.seq == await self._store.head() else None

    async def _build_for_all(self) -> None:
        """Make a dump, and pass it or the error to all requests that wait."""
        result: Dump | Exception
        try:
            result = await self._build()
        except (OSError, TooLarge, Unavailable) as error:
            reason = {OSError: str(error), TooLarge: f"it exceeds {self._settings.max_bytes:,} bytes (dump.max_bytes)"}
            self._log.error(
                "The dump was not made: {reason}",
                reason=next((text for kind, text in reason.items() if isinstance(error, kind)), str(error)),
            )
            result = Unavailable("The dump cannot be made now.")
        except Exception as error:
            self._log.failure("The dump was not made")
            result = error
        waiting, self._waiting = self._waiting or [], None
        for deferred in waiting:
            if not deferred.called:
                deferred.callback(result) if isinstance(result, Dump) else deferred.errback(result)

    async def _build(self) -> Dump:
        for _ in range(LOOKS):
            began = self._now()
            draft = await self._offload(open_draft, self._folder, int(began), self._settings.max_bytes)
            if draft is not None:
                break
            await deferLater(self._clock, LOOK)
            if (dump := await self._usable()) is not None:
                return dump
        else:
            raise Unavailable("Another process does not finish its dump.")
        try:
            # Changes during the work may be missing, so they count as later.
            log, seq = await self._store.log_id(), await self._store.head()
            await self._add_all(draft)
            dump = await self._offload(draft.finish, log, seq)
        finally:
            await self._offload(draft.discard)
        self._log.info(
            "Dump of {versions}: {size:,} bytes, {seconds:.1f} seconds",
            versions=entries(draft.versions),
            size=dump.size,
            seconds=self._now() - began,
        )
        return dump

    async def _add_all(self, draft: Draft) -> None:
        after = "", ""
        while versions := await self._store.listing(
            after,
            PAGE,
            versions="all",
            include_deleted=True,
            curated=self._curated,
            every_kind=self._settings.every_kind,
            most=PAGE_BYTES,
        ):
            added = [self._directory.registry_meta(version.name) if version.latest else {} for version in versions]
            await self._offload(draft.add, versions, added)
            after = versions[-1].name, versions[-1].version
