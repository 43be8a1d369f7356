"""Output of the commands: cleaned text, tables, times, progress bars and lists of errors."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import wraps
from itertools import chain, count
from tempfile import SpooledTemporaryFile
from typing import Any, TypeAlias

import click

from ..serialization import decode, encode, pretty, rfc3339
from ..texts.sanitize import clean
from ..texts.wording import counted, wait

SPOOLED = 8_000_000
"""Bytes of the rows of a table that are held in memory."""

LINE_INTERVAL = 10.0
"""Seconds between two lines of progress."""

ShowProgress = Callable[..., None]
"""`show(position, label=…, length=…)` moves the bar; `length` may be given with the first call."""


class Group(click.Group):
    """A group of commands whose help shows the first sentence of each command in full."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        commands = ((name, self.get_command(ctx, name)) for name in self.list_commands(ctx))
        with formatter.section("Commands"):
            formatter.write_dl([(name, command.get_short_help_str(limit=200)) for name, command in commands if command])


def echo(text: str, *, err: bool = False, newline: bool = True) -> None:
    """Print `text`, without terminal control sequences, to standard output or standard error."""
    click.echo(clean(text), err=err, nl=newline)


def print_table(rows: Iterable[Sequence[str]], *, has_head: bool = False) -> None:
    """Print `rows`, all of the same length, in aligned columns. `has_head`: the first row has the headings.

    The widths are those of all rows, so rows above SPOOLED bytes wait in a temporary file. On a terminal, texts of
    several words are cut to its width, and the first column has a colour unless NO_COLOR is set.
    """
    columns = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    with SpooledTemporaryFile(SPOOLED) as spooled:
        widths: list[int] = []
        texts: set[int] = set()
        for number, row in enumerate(rows):
            widths = [max(pair) for pair in zip(map(len, row), widths or [0] * len(row), strict=True)]
            if not has_head or number:
                texts.update(column for column, cell in enumerate(row) if " " in cell)
            spooled.write(encode(list(row)) + b"\n")
        spooled.seek(0)
        if columns:
            widths = fitted(widths, columns, texts)
        for number, line in enumerate(spooled):
            cells = [_cut(clean(cell), width) for cell, width in zip(decode(line), widths, strict=True)]
            if columns and not os.environ.get("NO_COLOR"):
                is_head = has_head and number == 0
                cells = [click.style(cell, bold=True) if is_head else cell for cell in cells]
                cells[0] = cells[0] if is_head else click.style(cells[0], fg="cyan")
            click.echo("  ".join(cells).rstrip())


def fitted(widths: Sequence[int], columns: int, texts: Collection[int]) -> list[int]:
    """Return `widths` for a line of `columns` characters: the widest of the columns numbered `texts` are reduced.

    Other columns have ids and names, which a reader copies: they stay whole, and a line may be too long.
    """
    fitting = list(widths)
    while texts and sum(fitting) + 2 * (len(fitting) - 1) > columns:
        widest = max(texts, key=lambda column: fitting[column])
        if fitting[widest] <= _NARROWEST:
            break
        fitting[widest] -= 1
    return fitting


_NARROWEST = 8
"""Characters below which no column of a table is reduced."""


def _cut(cell: str, width: int) -> str:
    return cell.ljust(width) if len(cell) <= width else f"{cell[: width - 1]}…"


Record: TypeAlias = Mapping[str, Any]
"""An item of a listing: values that JSON has, times as Unix timestamps under names that end in `_at`."""

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")


Column: TypeAlias = str | Callable[[Record], object]
"""The name of a value, or a function that returns the text of a cell."""


def print_listing(records: Iterable[Record], columns: Mapping[str, Column], as_json: bool) -> None:
    """Print `records` as a table with `columns`, by their headings, or as a JSON array."""
    if as_json:
        _print_array(map(with_dates, records))
    else:
        print_table(
            chain(
                [tuple(columns)], (tuple(_cell(record, column) for column in columns.values()) for record in records)
            ),
            has_head=True,
        )


def listing(columns: Mapping[str, Column]) -> Callable[[Callable[..., Iterable[Record]]], Callable[..., None]]:
    """Return a decorator of commands that return records: these are printed as by `print_listing`."""

    def decorate(command: Callable[..., Iterable[Record]]) -> Callable[..., None]:
        @json_option
        @wraps(command)
        def run(*args: Any, as_json: bool, **options: Any) -> None:
            print_listing(command(*args, **options), columns, as_json)

        return run

    return decorate


def _cell(record: Record, column: Column) -> str:
    if not isinstance(column, str):
        return str(column(record))
    value = record[column]
    if column.endswith("_at"):
        return moment(value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Sequence) and not isinstance(value, str):
        # Of a pair the last part names it.
        value = " ".join(part if isinstance(part, str) else str(part[-1]) for part in value)
    return "-" if value in (None, "") else str(value)


def _print_array(items: Iterable[object]) -> None:
    """Print the same as `print_json` for a list of `items`, one after the other."""
    separator = "[\n"
    for item in items:
        # An array of one item has its indentation.
        echo(separator + pretty([item])[2:-2], newline=False)
        separator = ",\n"
    echo("[]" if separator == "[\n" else "\n]")


def print_json(value: object) -> None:
    """Print `value` as indented JSON."""
    echo(pretty(value))


def with_dates(record: Record) -> Record:
    """Return `record` with its times as RFC 3339 dates."""
    return {
        name: rfc3339(value) if name.endswith("_at") and value is not None else value for name, value in record.items()
    }


def moment(timestamp: float | None) -> str:
    """Return a Unix timestamp as date and minute (UTC), "never" for None."""
    return "never" if timestamp is None else minute(timestamp)


def minute(timestamp: float) -> str:
    """Return a Unix timestamp as date and minute (UTC): "2027-01-31 12:00"."""
    return datetime.fromtimestamp(timestamp, UTC).strftime("%Y-%m-%d %H:%M")


@contextmanager
def progress_bar(label: str, length: int | None = None) -> Iterator[ShowProgress]:
    """Show progress on standard error: a bar on a terminal, elsewhere a line every LINE_INTERVAL seconds.

    A length of 0 shows nothing, None is an unknown length.
    """
    if length == 0:
        yield lambda position, **_: None
        return
    if not sys.stderr.isatty():
        yield _progress_lines(label, length)
        return
    bar: Any = None
    shown = 0

    def show(position: int, *, label: str = label, length: int | None = length, show_pos: bool = False) -> None:
        nonlocal bar, shown
        if bar is None:
            size = {"length": length} if length else {"iterable": count()}
            bar = click.progressbar(**size, label=label, file=sys.stderr, show_pos=show_pos)
            bar.__enter__()
        bar.label = label
        bar.update(position - shown)
        shown = position

    try:
        yield show
    finally:
        if bar is not None:
            bar.__exit__(None, None, None)


def _progress_lines(label: str, length: int | None, now: Callable[[], float] = time.monotonic) -> ShowProgress:
    """Return a function that prints label, percentage and remaining time of progress, every LINE_INTERVAL seconds."""
    start = now()
    due = start + LINE_INTERVAL

    def show(position: int, *, label: str = label, length: int | None = length, **_: object) -> None:
        nonlocal due
        if now() >= due:
            due = now() + LINE_INTERVAL
            left = ""
            if length and 0 < position <= length:
                left = f", about {wait(round((now() - start) * (length - position) / position))} left"
            echo(f"{label}: {position / length:.0%}{left}" if length else label, err=True)

    return show


def print_errors(errors: Sequence[str], rejected: int, too_old: int) -> None:
    """Print the `errors` of rejected entries, how many more were rejected, and how many versions were too old."""
    for error in errors:
        echo(f"rejected {error}", err=True)
    if rejected > len(errors):
        echo(f"… and {rejected - len(errors):,} more rejected", err=True)
    if too_old:
        echo(f"{counted(too_old, 'version')} not stored: older than the stored versions of the same name.", err=True)
