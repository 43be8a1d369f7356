"""`directory-server import`: entries from files."""

from __future__ import annotations

import os
from collections.abc import Sequence

import click

from .. import importer
from ..domain.versions import IMPORTED, LOCAL
from ..domain.work import IMPORT
from ..services.work_report import reported
from ..texts.wording import entries
from .context import command_context, wait_for
from .output import echo, print_errors, progress_bar

_MEANING = {
    LOCAL: "Source local: these entries are your own. They are shown in place of entries of upstreams with the same "
    "names, and no sync updates them.",
    IMPORTED: "Source imported: entries of upstreams with the same names are shown in place of these. Import with "
    "--own to show these instead.",
}


@click.command("import")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--official", is_flag=True, help="Trust the official marks in the files.")
@click.option("--own", is_flag=True, help="Make the entries your own: they override upstream entries by name.")
@click.pass_context
def import_(ctx: click.Context, files: Sequence[str], official: bool, own: bool) -> None:
    """Import entries from FILEs: .json, .jsonl, either with .gz, or - for standard input.

    A file contains a server.json, a list page of a registry, an array of either, or one entry per line. A running
    server on the same data serves the entries within seconds. An upstream's entry of the same name is shown in place
    of an imported one, except with --own. Invalid entries are reported and skipped. The exit code is 1 if a file cannot
    be read completely or has no valid entry.
    """
    source = LOCAL if own else IMPORTED
    context, report = command_context(ctx, new=True), importer.ImportReport()
    size = sum(os.path.getsize(file) for file in files if os.path.isfile(file))
    positions: dict[str, int] = {}
    try:
        with progress_bar("Importing", size) as show:

            async def run() -> None:
                async with reported(context.storage.work, IMPORT, context.now) as report_work:

                    def progress(file: importer.Progress) -> None:
                        positions[file.file] = file.read
                        read = sum(positions.values())
                        show(read, label=f"Importing, {entries(file.entries)}")
                        # Entries to come have as many bytes as those so far: the number is an estimate.
                        total = round(file.entries * size / read) if 0 < read <= size else 0
                        report_work(file.entries, max(file.entries, round(total, 2 - len(str(total)))))

                    publish = context.storage.store.publish
                    await importer.import_files(
                        files, publish, source=source, official=official, progress=progress, report=report
                    )

            wait_for(run())
    finally:
        _print_report(report)
    if report.published:
        echo(_MEANING[source])
    if report.unfinished or report.rejected_files:
        ctx.exit(1)


def _print_report(report: importer.ImportReport) -> None:
    errors, warnings = (
        [f"{error.file if error.line is None else f'{error.file}:{error.line}'}: {error.reason}" for error in errors]
        for errors in (report.rejections, report.warnings)
    )
    for warning in warnings:
        echo(f"warning {warning}; this part cannot be read", err=True)
    print_errors(errors, report.rejected, report.too_old)
    changed = "" if report.added or report.changed else " Nothing has changed."
    echo(
        f"{report.added:,} added, {report.changed:,} changed, {report.unchanged:,} unchanged, "
        f"{report.rejected:,} rejected.{changed}"
    )
