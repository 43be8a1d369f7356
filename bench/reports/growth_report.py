"""Report of `bench.growth`: tables with the exponent of each curve, and a plot."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from math import ceil, floor, log, log10
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

FLAT = 0.1
"""Exponent up to which a curve counts as flat: ten times the size costs less than 26 % more."""

COLOURS = ("#5588bb", "#ee6677", "#3a9a4a", "#b39b00", "#33a5c8", "#c0508f", "#e07b39", "#7a7a7a", "#9a78b8", "#8c6d5a")
"""One colour per figure. They have enough contrast on white and on black."""

GREY = "#7f7f7f"

_WIDTH, _HEIGHT, _LEFT, _TOP, _LABELS, _GAP = 300, 220, 56, 44, 150, 48
_COLUMNS = 2
_LINE = 13


@frozen
class Curve:
    """The values of one figure at each size of one axis."""

    figure: str
    points: Sequence[tuple[float, float]]

    @property
    def exponent(self) -> float | None:
        return exponent(self.points)


@frozen
class Axis:
    """The measurements of one axis: the figures by size, in ascending order."""

    name: str
    measured: Mapping[int, Mapping[str, float]] = field(factory=dict)

    def curves(self) -> Iterator[Curve]:
        """Yield the curve of each figure that was measured."""
        for figure in FIGURES:
            points = [(size, found[figure]) for size, found in self.measured.items() if figure in found]
            if points:
                yield Curve(figure, points)


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
    curves = list(axis.curves())
    sizes = list(axis.measured)
    yield f"{axis.name:<26}" + "".join(f"{size:>12,}" for size in sizes) + f"{'exponent':>12}"
    for curve in curves:
        values = dict(curve.points)
        cells = [_number(values.get(size)) for size in sizes]
        yield f"{FIGURES[curve.figure]:<26}" + "".join(f"{cell:>12}" for cell in cells) + f"{_power(curve):>12}"


def svg(axes: Sequence[Axis]) -> str:
    """Return a plot as SVG: a panel per axis, both scales logarithmic, each curve relative to its first value.

    The colours suit a light and a dark background, which stays transparent.
    """
    width, height = _LEFT + _WIDTH + _LABELS, _TOP + _HEIGHT + _GAP
    panels = ""
    for number, axis in enumerate(axes):
        row, column = divmod(number, _COLUMNS)
        origin = f"{column * width + _LEFT},{row * height + _TOP}"
        panels += f'<g transform="translate({origin})">{"".join(_panel(axis))}</g>'
    width, height = width * min(max(len(axes), 1), _COLUMNS), height * max(ceil(len(axes) / _COLUMNS), 1)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" '
        f'font-size="11" fill="{GREY}">{panels}</svg>\n'
    )


def _panel(axis: Axis) -> Iterator[str]:
    """Yield the elements of one panel, whose origin is its upper left corner."""
    curves = [(curve, _relative(curve)) for curve in axis.curves() if _relative(curve)]
    xs = [x for _, points in curves for x, _ in points] or [1.0]
    ys = [y for _, points in curves for _, y in points] or [1.0]
    left, right = log10(min(xs)), log10(max(xs))
    low, high = min(floor(log10(min(ys))), 0), max(ceil(log10(max(ys))), 1)

    def place(x: float, y: float) -> tuple[float, float]:
        across = (log10(x) - left) / (right - left) if right > left else 0.5
        return across * _WIDTH, (high - log10(y)) / (high - low) * _HEIGHT

    yield f'<text x="0" y="-22" font-size="14">Cost against {escape(axis.name)}, relative to the first value</text>'
    steps = (1, 2, 5) if high - low == 1 else (1,)
    for ratio in [digit * 10.0**power for power in range(low, high) for digit in steps] + [10.0**high]:
        y = place(min(xs), ratio)[1]
        yield f'<line x1="0" x2="{_WIDTH}" y1="{y:.1f}" y2="{y:.1f}" stroke="{GREY}" stroke-opacity="0.35"/>'
        yield f'<text x="-8" y="{y + 4:.1f}" text-anchor="end">× {ratio:g}</text>'
    for x in sorted(set(xs)):
        yield f'<text x="{place(x, 1)[0]:.1f}" y="{_HEIGHT + 18}" text-anchor="middle">{x:,.0f}</text>'
    ordered = sorted(curves, key=lambda each: place(*each[1][-1])[1])
    labels = _spread([place(*points[-1])[1] for _, points in ordered])
    for (curve, points), y in zip(ordered, labels, strict=True):
        colour = COLOURS[list(FIGURES).index(curve.figure) % len(COLOURS)]
        line = " ".join(f"{a:.1f},{b:.1f}" for a, b in (place(*point) for point in points))
        yield f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>'
        for x, ratio in (place(*point) for point in points):
            yield f'<circle cx="{x:.1f}" cy="{ratio:.1f}" r="2.5" fill="{colour}"/>'
        name = FIGURES[curve.figure].rpartition(",")[0]
        suffix = " (CPU)" if curve.figure == "start_cpu" else ""
        label = f"{escape(name)}{suffix}: {_power(curve)}"
        yield f'<text x="{_WIDTH + 8}" y="{y + 4:.1f}" fill="{colour}">{label}</text>'


def _spread(heights: Sequence[float]) -> list[float]:
    """Return ascending heights that differ by at least a line and end within the panel, close to `heights`."""
    found: list[float] = []
    for height in heights:
        found.append(max(height, found[-1] + _LINE) if found else height)
    bottom = float(_HEIGHT)
    for number in reversed(range(len(found))):
        found[number] = min(found[number], bottom)
        bottom = found[number] - _LINE
    return found


def _relative(curve: Curve) -> list[tuple[float, float]]:
    """Return the positive points of a curve, divided by the first value."""
    points = [(x, y) for x, y in curve.points if x > 0 and y > 0]
    return [(x, y / points[0][1]) for x, y in points]


def _power(curve: Curve) -> str:
    found = curve.exponent
    return "-" if found is None else f"{found:+.2f}"


def _number(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
