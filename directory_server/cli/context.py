"""Context of the commands: the configuration, the public URL and the open storage."""

from __future__ import annotations

import os
import pwd
import sys
import time
from collections.abc import Callable, Coroutine, Iterator, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

import click
from attrs import evolve, frozen
from twisted.internet.defer import CancelledError, Deferred
from twisted.python.failure import Failure

from ..config import Config, endpoints, record_folder
from ..domain.audit import DONE, MAX_TEXT, Actor, AuditEvent
from ..domain.roster import ListedAccount, ListedKey
from ..runtime.main_reactor import main_reactor
from ..runtime.run_sync import run_until_done
from ..serialization import recorded_values
from ..services.running import RunningServer, running_servers
from .output import echo

if TYPE_CHECKING:
    from ..storage import Storage

T = TypeVar("T")
P = ParamSpec("P")

Listed = TypeVar("Listed", ListedAccount, ListedKey)

PAGE = 1_000
"""Rows that a command reads at a time."""

READING = frozenset(
    ("list", "show", "search", "status", "log", "export", "verify", "warnings", "write", "config", "doctor")
)
"""Names of commands that are not recorded: they change nothing."""

TRAILS = "directory_server.trails"
"""The key of the functions in `Context.meta` that return what records commands, from the settings and the storage."""

CHECKS = "directory_server.checks"
"""The key of the functions in `Context.meta` that return functions of features: from the settings to checks by name."""

PROXY = "http://ADDRESS"
"""Placeholder URL of a server that listens only on sockets behind a proxy."""


def base_url(listen: Sequence[str]) -> str:
    """Return the local URL of the first endpoint in `listen` that has one."""
    return next(filter(None, (endpoints.read(endpoint).url for endpoint in listen)), PROXY)


def servers_of(config: Config) -> Sequence[RunningServer]:
    """Return the servers of this machine that run on the data of `config`."""
    folder = record_folder(config)
    return [] if folder is None else running_servers(folder)


def local_url(config: Config, servers: Sequence[RunningServer]) -> str:
    """Return the local URL of the first of the running `servers`, or without one that of a server with `config`."""
    listen = servers[0].settings.get("listen", "").split() if servers else ()
    return base_url(listen or config.listen)


def allowed_host(config: Config, servers: Sequence[RunningServer]) -> str:
    """Return a name in `http.allowed_hosts` of the running server, or without one of `config`; empty if any is allowed.

    A server behind a proxy may allow its public name only.
    """
    named = servers[0].settings.get("http.allowed_hosts", "").split(",") if servers else config.http.allowed_hosts
    return next(iter(named), "").strip()


@frozen
class CommandContext:
    """The configuration, and the adapters of the open storage. `now` returns seconds since the epoch."""

    config: Config
    storage: Storage
    now: Callable[[], float] = time.time

    @property
    def public_url(self) -> str:
        """The setting web.url of this command or of the running server, else its local URL; without a final slash."""
        servers = servers_of(self.config)
        url = self.config.web.url or (servers[0].settings.get("web.url", "") if servers else "")
        return url.rstrip("/") or local_url(self.config, servers)


def wait_for(coroutine: Coroutine[Any, Any, T]) -> T:
    """Return the result of an adapter's coroutine; the reactor of this process runs while it waits."""
    return run_until_done(coroutine, main_reactor)


def paged(read: Callable[[int], Coroutine[Any, Any, Sequence[Listed]]]) -> Iterator[Listed]:
    """Yield the rows of all pages. `read` returns the page after the row with a number."""
    after = 0
    while page := wait_for(read(after)):
        yield from page
        after = page[-1].number


def configuration(ctx: click.Context) -> Config:
    """Return the configuration that the command group has loaded."""
    config = ctx.find_object(Config)
    assert config is not None
    return config


def command_context(ctx: click.Context, *, new: bool = False) -> CommandContext:
    """Open the storage until the command ends; create a data directory only if `new`. Raises ClickException."""
    config = configuration(ctx)
    if not (new or config.database) and not (config.data_dir / "directory.db").exists():
        raise click.ClickException(
            f"{config.data_dir.absolute()} is not a data directory: it has no directory.db. Choose another one with "
            "--data-dir or the setting data_dir. 'import', 'sync', 'key create', 'account add' and 'quickstart' "
            "create a data directory."
        )
    # It takes half a second.
    from ..storage import command_environment, open_storage

    storage = open_storage(config, command_environment())
    ctx.call_on_close(storage.close)
    _record(ctx, config, storage)
    return CommandContext(config, storage)


def in_context(command: Callable[Concatenate[CommandContext, P], T]) -> Callable[P, T]:
    """Decorate a command: it gets the context of its data directory or database before its parameters."""

    @wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> T:
        return command(command_context(click.get_current_context()), *args, **kwargs)

    return run


def _record(ctx: click.Context, config: Config, storage: Storage) -> None:
    """Record a command that writes in the audit log, before it runs and when it ends."""
    trails = filter(None, (trail_of(config, storage) for trail_of in ctx.meta[TRAILS]))
    trail = None if ctx.info_name in READING else next(trails, None)
    if trail is None:
        return
    actor = Actor("command", str(os.getuid()), _user())
    event = AuditEvent(time.time(), actor, ctx.command_path.partition(" ")[2], after=recorded_values(ctx.params))
    begun = wait_for(trail.begin(event))

    def finish() -> None:
        outcome = _outcome(sys.exc_info()[1])
        wait_for(trail.finish(begun, evolve(event, at=time.time(), outcome=outcome)))

    ctx.call_on_close(finish)


def _outcome(error: BaseException | None) -> str:
    """Return the outcome of a command that ends with `error`."""
    if error is None:
        return DONE
    if isinstance(error, SystemExit | click.exceptions.Exit):
        return "error" if getattr(error, "exit_code", getattr(error, "code", 0)) else DONE
    return str(getattr(error, "code", "error"))


def _user() -> str:
    """Return the name of the user of this process, or an empty text for a user without a name."""
    try:
        return pwd.getpwuid(os.getuid()).pw_name[:MAX_TEXT]
    except KeyError:
        return ""


def run_in_reactor(main: Callable[[Any], Coroutine[Any, Any, None]], what: str = "sync") -> None:
    """Run the coroutine `main(reactor)` in the reactor of this process, and exit. Ctrl-C cancels it.

    `what` is the name of the command in the message for that.
    """
    from twisted.internet import task

    def start(reactor: Any) -> Deferred[None]:
        run = Deferred.fromCoroutine(main(reactor))
        # Ctrl-C must release the lease.
        reactor.addSystemEventTrigger("before", "shutdown", run.cancel)
        return run.addErrback(_exit_on_signal, what)

    task.react(start)


def _exit_on_signal(failure: Failure, what: str) -> None:
    """Exit with code 1: with one line after a signal, and without a word if nobody reads the output any more."""
    if failure.check(BrokenPipeError):
        # The interpreter writes the rest at its exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(1)
    failure.trap(CancelledError)
    echo(f"Stopped by a signal; the next {what} continues from here.", err=True)
    raise SystemExit(1)
