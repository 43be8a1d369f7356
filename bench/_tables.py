"""Tables of text: columns of cells, in groups with a heading of their own."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence

from attrs import frozen


@frozen
class Group:
    """Columns under one heading; each is its own heading and a cell for each row."""

    heading: str
    columns: Sequence[Sequence[str]]


def lines(groups: Sequence[Group]) -> Iterator[str]:
    """Yield the lines of a table."""
    for row in zip(*(_block(group) for group in groups), strict=True):
        yield " | ".join(row).rstrip()


def named(kinds: Collection[str], counts: Sequence[int]) -> Group:
    """Return the first group of a table: a kind of queries for each row, and how many there are."""
    width = max(map(len, kinds))
    return Group("", [[kind.ljust(width) for kind in ("kind", *kinds)], ["n", *map(str, counts)]])


def decimal(value: float | None) -> str:
    """Return `value` of 0 to 1 to three places."""
    return "-" if value is None else f"{value:.3f}".replace("0.", ".", 1)


def signed(value: float | None) -> str:
    """Return a difference to three places, with its sign."""
    return "-" if value is None else f"{value:+.3f}".replace("0.", ".", 1)


def span(bounds: tuple[float, float] | None, number: Callable[[float], str] = decimal) -> str:
    """Return an interval as its two ends."""
    return "-" if bounds is None else " ".join(map(number, bounds))


def _block(group: Group) -> Sequence[str]:
    widths = [max(map(len, column)) for column in group.columns]
    rows = zip(*group.columns, strict=True)
    body = ["  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
    width = max(len(group.heading), len(body[0]))
    return [group.heading.center(width), *(line.rjust(width) for line in body)]
