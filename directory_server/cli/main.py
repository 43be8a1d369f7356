"""`directory-server`: administration of a data directory, with or without a running server."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from .. import __version__, importer, sample
from ..config import Config, ConfigError, describe, load, settings_tables
from ..domain.errors import DirectoryError, Unavailable
from ..run_sync import run_sync
from ..sanitize import clean
from ._account import account
from ._context import command_context
from ._entry import entry
from ._key import day, key, key_state
from ._output import echo
from ._ports import check_ports
from ._progress import print_errors, progress_bar
from ._registry import registry
from ._restore import after_restore
from ._sync import sync
from .quickstart import instructions, public_url


class Commands(click.Group):
    """A command group that prints expected errors as one line without a traceback."""

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
@click.option("--data-dir", type=click.Path(path_type=Path, file_okay=False), help="Data directory.")
@click.option("--config", "file", type=click.Path(path_type=Path), help="TOML file of settings.")
@click.option("--set", "settings", multiple=True, metavar="SECTION.KEY=VALUE", help="A setting; may be repeated.")
@click.pass_context
def main(ctx: click.Context, data_dir: Path | None, file: Path | None, settings: Sequence[str]) -> None:
    """Manage the data directory of an MCP directory server. The server may be running."""
    ctx.obj = load(file=file, environ=os.environ, settings=settings, data_dir=data_dir)


main.add_command(account)
main.add_command(after_restore)
main.add_command(entry)
main.add_command(key)
main.add_command(registry)
main.add_command(sync)


@main.command("import")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--official", is_flag=True, help="Trust the official marks in the files.")
@click.pass_context
def import_(ctx: click.Context, files: Sequence[str], official: bool) -> None:
    """Import entries from FILEs: .json, .jsonl, either with .gz, or - for standard input.

    A file contains a server.json, a list page of a registry, an array of either, or one entry per line. A running
    server on the same data directory serves the entries within seconds. Invalid entries are reported and skipped. The
    exit code is 1 if a file cannot be read completely or has no valid entry.
    """
    store, report = command_context(ctx, new=True).store, importer.ImportReport()
    size = sum(os.path.getsize(file) for file in files if os.path.isfile(file))
    read: dict[str, int] = {}
    try:
        with progress_bar("Importing", size) as show:

            def progress(file: importer.Progress) -> None:
                read[file.file] = file.read
                show(sum(read.values()))

            run_sync(
                importer.import_files(
                    files, store.publish, source="local", official=official, progress=progress, report=report
                )
            )
    finally:
        _print_report(report)
    if report.unfinished or report.rejected_files:
        ctx.exit(1)


def _print_report(report: importer.ImportReport) -> None:
    errors = [
        f"{error.file if error.line is None else f'{error.file}:{error.line}'}: {error.reason}"
        for error in report.rejections
    ]
    print_errors(errors, report.rejected, report.too_old)
    changed = "" if report.added or report.changed else " Nothing has changed."
    echo(
        f"{report.added:,} added, {report.changed:,} changed, {report.unchanged:,} unchanged, "
        f"{report.rejected:,} rejected.{changed}"
    )


@main.command()
@click.pass_context
def status(ctx: click.Context) -> None:
    """Show entries, keys and upstreams of the data directory."""
    context = command_context(ctx)
    keys = run_sync(context.keys.list())
    echo(f"data directory  {context.config.data_dir.resolve()}")
    echo(f"entries         {run_sync(context.store.count()):,}")
    echo(f"last change     {run_sync(context.store.head()):,}")
    echo(f"keys            {sum(key_state(each) == 'valid' for each in keys)} valid, {len(keys)} in all")
    for each in run_sync(context.mirrors.all()):
        last = day(each.last_success) + " UTC" if each.last_success else "not followed yet"
        echo(f"upstream        {each.name}: {each.entries:,} entries, {last}")
        if each.error:
            echo(f"                {each.failures} failed since then, the latest: {each.error}")


@main.command()
@click.option("--markdown", is_flag=True, help="Print a table of all settings with their types and defaults instead.")
@click.pass_context
def config(ctx: click.Context, markdown: bool) -> None:
    """Show the settings in effect, secrets masked."""
    if markdown:
        echo(settings_tables().rstrip("\n"))
        return
    for name, value, meaning in describe(ctx.obj):
        echo(f"{name} = {value}\n    {meaning}")


@main.command()
@click.option("--check-ports", "check", is_flag=True, help="Fail if a port to listen on is in use.")
@click.pass_context
def quickstart(ctx: click.Context, check: bool) -> None:
    """Import the sample catalogue into an empty data directory, create a first key and print the next steps."""
    if check:
        check_ports(ctx.obj)
    context = command_context(ctx, new=True)
    if not run_sync(context.store.count()):
        run_sync(importer.import_files([str(sample.path())], context.store.publish, source="local", official=True))
    secret = None
    if not run_sync(context.keys.list()):
        _, secret = run_sync(context.keys.create("first key", limit=context.config.quota.limit, expires_at=None))
    entries = run_sync(context.store.count())
    pages = context.config.web.search == "public"
    echo(instructions(public_url(context.config.web.url, context.config.listen), secret, entries, pages=pages))
