"""Progress bars and error lists of imports and syncs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from typing import Any

import click

from ._output import echo

Show = Callable[..., None]
"""`show(position, label=…, length=…)` moves the bar; `length` may be given with the first call."""


@contextmanager
def progress_bar(label: str, length: int | None = None) -> Iterator[Show]:
    """Show a progress bar if standard error is a terminal and the length is not 0; None is an unknown length."""
    if not sys.stderr.isatty() or length == 0:
        yield lambda position, **_: None
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


def print_errors(errors: Sequence[str], rejected: int, too_old: int) -> None:
    """Print the `errors` of rejected entries, how many more were rejected, and how many versions were too old."""
    for error in errors:
        echo(f"rejected {error}", err=True)
    if rejected > len(errors):
        echo(f"… and {rejected - len(errors):,} more rejected", err=True)
    if too_old:
        echo(f"{too_old:,} versions not stored: older than the stored versions of the same name.", err=True)
