"""Tables of the relevance benchmark, and the comparison of two of its runs query by query."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path

from attrs import frozen

from ..measurement.relevance_metrics import interval, mean

Scores = Mapping[str, Mapping[str, Mapping[str, float]]]
"""The score of each query, by set and kind of queries."""

Run = Mapping[str, Scores]
"""The scores by engine."""

OURS = "ours"

EVERY = "all"
"""The row of all kinds together."""


@frozen
class Group:
    """Columns with a common heading. A column is its heading and a cell for each row."""

    heading: str
    columns: Sequence[Sequence[str]]


def table_lines(groups: Sequence[Group]) -> Iterator[str]:
    """Yield the lines of a table."""
    for row in zip(*(_block(group) for group in groups), strict=True):
        yield " | ".join(row).rstrip()


def kinds_group(kinds: Collection[str], counts: Sequence[int]) -> Group:
    """Return the first group of a table: the kind of the queries of each row and their number."""
    width = max(map(len, kinds))
    return Group("", [[kind.ljust(width) for kind in ("kind", *kinds)], ["n", *map(str, counts)]])


def decimal(value: float | None) -> str:
    """Return `value`, from 0 to 1, with three decimals."""
    return "-" if value is None else f"{value:.3f}".replace("0.", ".", 1)


def signed(value: float | None) -> str:
    """Return a difference with three decimals and its sign."""
    return "-" if value is None else f"{value:+.3f}".replace("0.", ".", 1)


def span(bounds: tuple[float, float] | None, number: Callable[[float], str] = decimal) -> str:
    """Return an interval as its two bounds."""
    return "-" if bounds is None else " ".join(map(number, bounds))


def _block(group: Group) -> Sequence[str]:
    widths = [max(map(len, column)) for column in group.columns]
    rows = zip(*group.columns, strict=True)
    body = ["  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
    width = max(len(group.heading), len(body[0]))
    return [group.heading.center(width), *(line.rjust(width) for line in body)]


def save(run: Run, path: Path) -> None:
    """Write a run to a file."""
    path.write_text(json.dumps(run, ensure_ascii=False, indent=1) + "\n", "utf-8")


def load(path: Path) -> Run:
    """Return the run in a file that `save` wrote. Exits with a message if the file contains none."""
    try:
        run: Run = json.loads(path.read_text("utf-8"))
        run[OURS]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SystemExit(f"{path} contains no run to compare with ({error!r}). Write one with --json {path}.") from None
    return run


def verdict(bounds: tuple[float, float] | None) -> str:
    """Return whether a change with this 95 % interval is better, worse, or within noise."""
    if bounds is None or bounds[0] <= 0 <= bounds[1]:
        return "within noise"
    return "better" if bounds[0] > 0 else "worse"


def comparison(before: Scores, now: Scores, changes: int, *, hidden: Collection[str] = ()) -> Iterator[str]:
    """Yield the lines of a comparison of the queries of both runs, and the `changes` largest changes of each set.

    The changes of the sets in `hidden` are not shown.
    """
    for name, kinds in now.items():
        scores_before = before.get(name, {})
        pairs = {kind: _pairs(scores_before.get(kind, {}), scores) for kind, scores in kinds.items()}
        pairs = {kind: both for kind, both in pairs.items() if both}
        yield f"\n{name}: difference to the earlier run, with the 95 % interval of a paired bootstrap"
        if not pairs:
            yield "no common queries"
            continue
        rows = {**pairs, EVERY: {f"{kind}: {q}": both for kind, pair in pairs.items() for q, both in pair.items()}}
        yield from _table(rows)
        moved = sorted(rows[EVERY].items(), key=lambda row: (-abs(row[1][1] - row[1][0]), row[0]))
        for q, (was, is_now) in moved[: 0 if name in hidden else changes]:
            if was != is_now:
                yield f"  {decimal(was)} → {decimal(is_now)}  {q}"


def _pairs(before: Mapping[str, float], now: Mapping[str, float]) -> Mapping[str, tuple[float, float]]:
    return {q: (before[q], score) for q, score in now.items() if q in before}


def _table(rows: Mapping[str, Mapping[str, tuple[float, float]]]) -> Iterator[str]:
    pairs = [list(row.values()) for row in rows.values()]
    changes = [[now - before for before, now in row] for row in pairs]
    return table_lines(
        [
            kinds_group(rows, [len(row) for row in pairs]),
            Group(
                "mean",
                [
                    ["before", *(decimal(mean([before for before, _ in row])) for row in pairs)],
                    ["now", *(decimal(mean([now for _, now in row])) for row in pairs)],
                    ["change", *(signed(mean(row)) for row in changes)],
                    ["95 %", *(span(interval(row), signed) for row in changes)],
                    ["verdict", *(verdict(interval(row)) for row in changes)],
                ],
            ),
            Group(
                "queries",
                [
                    ["better", *(str(sum(change > 0 for change in row)) for row in changes)],
                    ["worse", *(str(sum(change < 0 for change in row)) for row in changes)],
                ],
            ),
        ]
    )
