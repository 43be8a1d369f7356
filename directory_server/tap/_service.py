"""The service of a server process: start, stop, signals, and the end of a process that cannot start."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from threading import Thread
from typing import TYPE_CHECKING, Any, NoReturn

from twisted.application.service import IService, MultiService, Service
from twisted.internet.defer import Deferred, maybeDeferred
from twisted.internet.error import CannotListenError
from twisted.logger import Logger

from .. import __version__
from ..config import Config, ConfigError, endpoints, record_folder, shown_settings
from ..domain.errors import Unavailable
from ..runtime import process
from ..runtime.process import StartFailed
from ..runtime.run_sync import run_until_done
from ..runtime.timers import Timer
from ..services.running import RunningServer, ServerRecord
from ..texts.wording import entries

if TYPE_CHECKING:
    from ..composition import Application


PRELOADED = 60.0
"""Seconds for which the start waits at most for what the first requests need, before shared ports are bound."""


class DirectoryService(MultiService):
    """Build, start and stop the application.

    The application is built when the service starts: twistd forks before that, and neither open databases nor threads
    survive a fork. Ports are bound before the index is loaded, so that a port in use is reported at once. Connections
    wait in the kernel's backlog until the index is loaded. Ports with SO_REUSEPORT are bound after loading: until then
    the other processes get the connections.

    The services of the application are in stages. The stop of a stage begins when those after it have ended, because
    requests that are still answered need it.
    """

    _log = Logger()
    application: Application
    _record: ServerRecord | None = None

    def __init__(
        self,
        config: Config,
        reactor: Any,
        terminal: process.Terminal | None = None,
    ) -> None:
        super().__init__()
        self._terminal = terminal
        self._config = config
        self._reactor = reactor

    def privilegedStartService(self) -> None:
        process.tune_allocator(os.environ)
        with self._exiting_on_errors():
            with process.without_collections():
                application = self.application = self._build()
            early = () if self._config.reuse_port else application.ports
            for parts in ((application.bus,), application.background, application.clients, early):
                self._add_stage(parts)
            super().privilegedStartService()

    def startService(self) -> None:
        application = self.application
        process.yield_early()
        application.readiness.is_preloaded = False
        # Checks of the file of the index, which run meanwhile, release the interpreter lock. A daemon blocks no exit.
        preloading = Thread(target=self._preload, daemon=True)
        preloading.start()
        with self._exiting_on_errors():
            run_until_done(application.load(), lambda: self._reactor)
            application.storage.control.serve()
            process.tune()
            if self._config.reuse_port:
                # From then on this process gets requests that others would answer at once.
                preloading.join(PRELOADED)
                self._add_stage(application.ports)
            super().startService()
        self._record = self._recorded()
        # A signal that arrives before the reactor runs must end the process in the default way.
        self._reactor.callWhenRunning(self._announce)
        if self._terminal is not None:
            self._terminal.close()

    def stopService(self) -> Deferred[None]:
        self.application.readiness.draining = True
        if self._record is not None:
            self._record.close()
            self._record = None
        Service.stopService(self)
        return Deferred.fromCoroutine(self._stop())

    def _add_stage(self, parts: Iterable[IService]) -> None:
        stage = MultiService()
        for part in parts:
            part.setServiceParent(stage)
        stage.setServiceParent(self)

    async def _stop(self) -> None:
        first, *later = self
        for stage in reversed(later):
            await maybeDeferred(stage.stopService)
        # All requests are counted now, and the links to a database are still open.
        try:
            await self.application.write_counts()
        except Exception:
            self._log.failure("Some counts of the last requests are not written")
        await maybeDeferred(first.stopService)
        self.application.close()

    def _recorded(self) -> ServerRecord | None:
        """Record the settings of this process for `directory-server config`. It serves without the record too."""
        folder, now = record_folder(self._config), self.application.runtime.wall()
        if folder is None:
            return None
        try:
            return ServerRecord(folder, RunningServer(os.getpid(), __version__, now, shown_settings(self._config)))
        except OSError as error:
            self._log.warn("The settings cannot be recorded in {folder}: {error}", folder=folder, error=error)
            return None

    def _build(self) -> Application:
        # The composition imports Klein, which installs a reactor: twistd must have chosen one before.
        from ..composition import build, max_streams

        files = process.raise_file_limit()
        sockets = process.client_sockets(files)
        self._log.info(
            "Limit of open files: {files:,}. Connections: at most {sockets:,}, of these at most {streams:,} streams. "
            "Reserved for databases and logs: {reserved:,}.",
            files=files,
            sockets=sockets,
            streams=max_streams(self._config, sockets),
            reserved=files - sockets,
        )
        return build(self._config, self._reactor, sockets=sockets, lost=self._exit_on_loss)

    def _exit_on_loss(self, reason: str) -> None:
        """Stop a process whose data directory or database was deleted, replaced or upgraded; its exit code is 1."""
        what = "database" if self._config.database else "data directory"
        self._log.critical("The {what} cannot be used any more, the server stops: {reason}", what=what, reason=reason)
        process.fail_at_exit()
        self._reactor.stop()

    def _announce(self) -> None:
        """Handle signals, log the start, and notify systemd, then again and again if it watches the process."""
        process.handle_signals(self._reactor, self.application.web.log.reopen)
        self._log.info("Serving {entries}", entries=entries(len(self.application.search.index)))
        process.notify_systemd(os.environ, "READY=1")
        interval = process.watchdog_interval(os.environ)
        if interval is not None:
            # Also while the service stops: it ends with the reactor.
            Timer(interval, partial(process.notify_systemd, os.environ, "WATCHDOG=1"), self._reactor).startService()

    def _preload(self) -> None:
        """Load what the first search and the first page would wait for, or leave it to them."""
        try:
            # It imports Klein.
            from ..composition import preload

            preload(self._config)
        except OSError as error:
            # No file can be opened, for example.
            self._log.warn("Tables of words are loaded by the first search: {error}", error=error)
        finally:
            self.application.readiness.is_preloaded = True
        # The tables of words have 40,000 objects.
        process.keep_objects()

    @contextmanager
    def _exiting_on_errors(self) -> Iterator[None]:
        """End the process with one line where an error keeps it from starting. Raises StartFailed."""
        try:
            yield
        except ConfigError as error:
            self._fail(str(error))
        except CannotListenError as error:
            setting = "metrics.listen" if self._is_of_metrics(error.port) else "listen"
            address = f"{error.interface or '*'}:{error.port}"
            self._fail(f"Cannot listen on {address}: {error.socketError}. Change the setting {setting}.")
        except (OSError, OverflowError) as error:
            places = " or ".join(filter(None, [*self._config.listen, self._config.metrics.listen]))
            self._fail(f"Cannot listen on {places}: {str(error).rstrip('.')}.")
        except Unavailable as error:
            # It imports the adapters, which a process that prints its options does not need.
            from ..storage import place

            self._fail(f"Cannot serve {place(self._config)}: {error}")

    def _is_of_metrics(self, port: object) -> bool:
        """Return whether only the endpoint of the metrics has `port`: a number, or the path of a socket."""
        having = [listen for listen in self._config.listen if str(port) in endpoints.read(listen).arguments]
        return not having and str(port) in endpoints.read(self._config.metrics.listen).arguments

    def _fail(self, reason: str) -> NoReturn:
        self._log.critical("{reason}", reason=reason)
        printed = self._terminal is not None and self._terminal.write_line(reason)
        raise StartFailed("the line above gives the reason" if printed else reason)
