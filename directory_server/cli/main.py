"""`directory-server`: what an operator does to the directory, beside a running server or without one."""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
from attrs import frozen

from .. import __version__, importer, sample, sqlite
from ..config import Config, ConfigError, describe, load
from ..domain.errors import DirectoryError, Unavailable
from ..domain.keys import ApiKey
from ..machine import machine_time
from ..run_sync import inline, run_sync
from ..sanitize import clean
from ._account import account
from ._context import opened, store
from ._entry import entry
from ._output import echo
from ._ports import check_ports
from ._registry import registry
from ._restore import after_restore
from ._sync import sync
from .quickstart import instructions, public_url

_SPAN = re.compile(r"(\d{1,6})(d|h|m|s)")
_SECONDS = {"d": 86_400, "h": 3_600, "m": 60, "s": 1}


@frozen
class CommandContext:
    """The data directory that a command works on."""

    config: Config
    store: sqlite.SqliteStore
    keys: sqlite.SqliteKeyRing
    quota: sqlite.SqliteQuota
    accounts: sqlite.SqliteAccounts
    mirrors: sqlite.SqliteMirrors


class Commands(click.Group):
    """Commands whose refusals are one line to the operator, not a traceback."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except Unavailable as error:
            config: Config = ctx.find_object(Config)  # type: ignore[assignment]
            raise click.ClickException(f"Cannot use {config.data_dir.absolute()}: {error.message}") from None
        except DirectoryError as error:
            raise click.ClickException(clean(error.message)) from None
        except ConfigError as error:
            raise click.ClickException(str(error)) from None


@click.group(cls=Commands)
@click.version_option(__version__, prog_name="directory-server")
@click.option("--data-dir", type=click.Path(path_type=Path, file_okay=False), help="Folder of all that is kept.")
@click.option("--config", "file", type=click.Path(path_type=Path), help="TOML file of settings.")
@click.option("--set", "settings", multiple=True, metavar="SECTION.KEY=VALUE", help="A setting; may be repeated.")
@click.pass_context
def main(ctx: click.Context, data_dir: Path | None, file: Path | None, settings: Sequence[str]) -> None:
    """Look after the data directory of an MCP directory server, running or not."""
    ctx.obj = load(file=file, environ=os.environ, settings=settings, data_dir=data_dir)


def _context(ctx: click.Context, *, new: bool = False) -> CommandContext:
    """Return the data directory, which must be there unless the command may make a `new` one."""
    config, data = opened(ctx, new=new)
    return CommandContext(
        config,
        store(config, data),
        sqlite.SqliteKeyRing(data.directory, time.time),
        sqlite.SqliteQuota(data.quota, sqlite.quota_clock(data.quota, machine_time()), wall=time.time),
        sqlite.SqliteAccounts(data.directory, time.time),
        sqlite.SqliteMirrors(data.directory, inline),
    )


main.add_command(account)
main.add_command(after_restore)
main.add_command(entry)
main.add_command(registry)
main.add_command(sync)


@main.command("import")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--official", is_flag=True, help="Take the files' word for which entries the official registry lists.")
@click.pass_context
def import_(ctx: click.Context, files: Sequence[str], official: bool) -> None:
    """Import entries from FILEs: .json, .jsonl, either with .gz, or - for standard input.

    A file holds a server.json, a registry's list page, an array of either, or one entry a line. A server that runs
    on the same data directory answers with them within seconds. Fails where a file cannot be read to its end, or has
    no entry that is accepted; one refused entry among others is reported and stops nothing.
    """
    here, report = _context(ctx, new=True), importer.ImportReport()
    try:
        with _bar(files) as progress:
            run_sync(
                importer.import_files(
                    files, here.store.publish, source="local", official=official, progress=progress, report=report
                )
            )
    finally:
        _tell(report)
    if report.unfinished or report.rejected:
        ctx.exit(1)


@contextmanager
def _bar(files: Sequence[str]) -> Iterator[Callable[[importer.Progress], None]]:
    """Show on a terminal how far an import has come, in the bytes of `files` as they are stored."""
    total = sum(os.path.getsize(file) for file in files if os.path.isfile(file))
    if not (sys.stderr.isatty() and total):
        yield lambda progress: None
        return
    read: dict[str, int] = {}
    with click.progressbar(length=total, label="Importing", file=sys.stderr, show_pos=False) as bar:

        def show(progress: importer.Progress) -> None:
            bar.update(progress.read - read.get(progress.file, 0))
            read[progress.file] = progress.read

        yield show


def _tell(report: importer.ImportReport) -> None:
    for refusal in report.refusals:
        place = refusal.file if refusal.line is None else f"{refusal.file}:{refusal.line}"
        echo(f"refused {place}: {refusal.reason}", err=True)
    if report.refused > len(report.refusals):
        echo(f"… and {report.refused - len(report.refusals):,} more refused", err=True)
    if report.too_old:
        echo(f"{report.too_old:,} versions not kept: older than the latest of their name that are.", err=True)
    changed = "" if report.added or report.changed else " Nothing has changed."
    echo(
        f"{report.added:,} added, {report.changed:,} changed, {report.unchanged:,} unchanged, "
        f"{report.refused:,} refused.{changed}"
    )


@main.group()
def key() -> None:
    """Make, list and end API keys."""


@key.command("create")
@click.option("--label", required=True, help="Whom or what the key is for.")
@click.option("--limit", help="Requests in any 60 minutes, or 'unlimited'.  [default: the setting quota.limit]")
@click.option("--expires", default="never", help="A span (30d, 12h), a date (2027-01-31) or 'never'.")
@click.pass_context
def create(ctx: click.Context, label: str, limit: str | None, expires: str) -> None:
    """Make a key and print it, this once; nothing else goes to standard output."""
    here = _context(ctx, new=True)
    chosen = here.config.quota.limit if limit is None else _limit(limit)
    made, secret = run_sync(here.keys.create(label, limit=chosen, expires_at=_expiry(expires)))
    echo(f"Key {made.id} for {label!r}; it is shown this once:", err=True)
    echo(secret)


@key.command("list")
@click.pass_context
def list_(ctx: click.Context) -> None:
    """List all keys, oldest first."""
    here = _context(ctx)
    emails = {account.id: account.email for account in run_sync(here.accounts.list())}
    rows = [("ID", "LABEL", "ENDS IN", "USED", "LIMIT", "CREATED", "EXPIRES", "STATE", "OWNER")]
    for each in run_sync(here.keys.list()):
        left = run_sync(here.quota.peek(each.quota_id, each.limit))
        used = "-" if left.limit is None or left.remaining is None else str(left.limit - left.remaining)
        limit = "unlimited" if each.limit is None else str(each.limit)
        rows.append(
            (
                each.id,
                each.label,
                each.last_four,
                used,
                limit,
                _day(each.created_at),
                _day(each.expires_at),
                _state(each),
                emails[each.owner] if each.owner else "-",
            )
        )
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        echo("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


@key.command("revoke")
@click.argument("key_id", metavar="ID")
@click.pass_context
def revoke(ctx: click.Context, key_id: str) -> None:
    """End a key now: a running server refuses it, and ends its streams, within a second."""
    run_sync(_context(ctx).keys.revoke(key_id))
    echo(f"Key {key_id} is revoked.", err=True)


@key.command("rotate")
@click.argument("key_id", metavar="ID")
@click.option("--grace", help="Span for which the old secret works on (1d, 0m).  [default: the setting keys.grace]")
@click.pass_context
def rotate(ctx: click.Context, key_id: str, grace: str | None) -> None:
    """Give a key a new secret and print that, this once; quota and sessions go on."""
    here = _context(ctx)
    seconds = here.config.keys.grace if grace is None else _span(grace)
    _, secret = run_sync(here.keys.rotate(key_id, grace=seconds))
    echo(f"The new secret of key {key_id}; it is shown this once:", err=True)
    echo(secret)


@main.command()
@click.pass_context
def status(ctx: click.Context) -> None:
    """Say what the data directory holds."""
    here = _context(ctx)
    keys = run_sync(here.keys.list())
    echo(f"data directory  {here.config.data_dir.resolve()}")
    echo(f"entries         {run_sync(here.store.count()):,}")
    echo(f"last change     {run_sync(here.store.head()):,}")
    echo(f"keys            {sum(_state(each) == 'valid' for each in keys)} valid, {len(keys)} in all")
    for each in run_sync(here.mirrors.all()):
        last = _day(each.last_success) + " UTC" if each.last_success else "not followed yet"
        echo(f"upstream        {each.name}: {each.entries:,} entries, {last}")
        if each.error:
            echo(f"                {each.failures} failed since then, the latest: {each.error}")


@main.command()
@click.pass_context
def config(ctx: click.Context) -> None:
    """Show the settings in effect, secrets masked."""
    for name, value, meaning in describe(ctx.obj):
        echo(f"{name} = {value}\n    {meaning}")


@main.command()
@click.option("--check-ports", "check", is_flag=True, help="Fail first if a port to listen on is taken.")
@click.pass_context
def quickstart(ctx: click.Context, check: bool) -> None:
    """Fill an empty data directory with the sample catalogue, make a first key, and say what to do next."""
    if check:
        check_ports(ctx.obj)
    here = _context(ctx, new=True)
    if not run_sync(here.store.count()):
        run_sync(importer.import_files([str(sample.path())], here.store.publish, source="local", official=True))
    secret = None
    if not run_sync(here.keys.list()):
        _, secret = run_sync(here.keys.create("first key", limit=here.config.quota.limit, expires_at=None))
    entries = run_sync(here.store.count())
    pages = here.config.web.search == "public"
    echo(instructions(public_url(here.config.web.url, here.config.listen), secret, entries, pages=pages))


def _limit(text: str) -> int | None:
    if text == "unlimited":
        return None
    if not re.fullmatch(r"[0-9]{1,9}", text):
        raise click.BadParameter("must be a whole number or 'unlimited'", param_hint="--limit")
    return int(text)


def _span(text: str) -> float:
    match = _SPAN.fullmatch("0s" if text == "0" else text)
    if not match:
        raise click.BadParameter("must be a span such as 30d, 12h, 15m or 30s, or 0", param_hint="--grace")
    return int(match[1]) * _SECONDS[match[2]]


def _expiry(text: str) -> float | None:
    if text == "never":
        return None
    if _SPAN.fullmatch(text):
        return time.time() + _span(text)
    try:
        moment = datetime.fromisoformat(text)
        return (moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        raise click.BadParameter(
            "must be a span such as 30d, a date such as 2027-01-31 (UTC), or 'never'", param_hint="--expires"
        ) from None


def _day(moment: float | None) -> str:
    return "never" if moment is None else datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%d %H:%M")


def _state(key: ApiKey) -> str:
    if key.revoked_at is not None:
        return "revoked"
    return "expired" if key.expires_at is not None and key.expires_at <= time.time() else "valid"
