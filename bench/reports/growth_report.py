"""Report of `bench.growth`: tables with the exponent of each curve."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import log
from statistics import fmean

from attrs import field, frozen

FIGURES = {
    "request": "cached search, CPU µs",
    "first_use": "first of a key, CPU µs",
    "search": "distinct search, CPU µs",
    "change": "change, CPU ms",
    "open": "open a stream, CPU µs",
    "rss": "RSS, MB",
    "pss": "PSS, MB",
    "first_start": "first start, CPU s",
    "start": "start, s",
    "start_cpu": "start, CPU s",
    "publish": "publish an entry, CPU µs",
}
"""The figures of a server, and their names with units."""


@frozen
class Axis:
    """The measurements of one axis: the figures by size, in ascending order."""

    name: str
    measured: Mapping[int, Mapping[str, float]] = field(factory=dict)


def exponent(points: Sequence[tuple[float, float]]) -> float | None:
    """Return the exponent b of the curve y = a · x^b through `points`, by least squares of the logarithms.

    Return None if fewer than two different x have a positive y.
    """
    logs = [(log(x), log(y)) for x, y in points if x > 0 and y > 0]
    if len({x for x, _ in logs}) < 2:
        return None
    mean_x, mean_y = fmean(x for x, _ in logs), fmean(y for _, y in logs)
    return sum((x - mean_x) * (y - mean_y) for x, y in logs) / sum((x - mean_x) ** 2 for x, _ in logs)


def table(axis: Axis) -> Iterator[str]:
    """Yield the table of one axis: a row per figure, a column per size, and the exponent."""
    yield f"{axis.name:<26}" + "".join(f"{size:>12,}" for size in axis.measured) + f"{'exponent':>12}"
    for figure, name in FIGURES.items():
        values = {size: found[figure] for size, found in axis.measured.items() if figure in found}
        if values:
            cells = [_number(values.get(size)) for size in axis.measured]
            power = exponent(list(values.items()))
            cells.append("-" if power is None else f"{power:+.2f}")
            yield f"{name:<26}" + "".join(f"{cell:>12}" for cell in cells)


def _number(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
