"""Report of `bench.cluster`: a table of both storages, with targets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from attrs import frozen

_HEADINGS = ("", "SQLite", "PostgreSQL", "target", "reached")


@frozen
class Row:
    """A measurement. `reached` is None without a target."""

    name: str
    sqlite: str
    postgres: str
    target: str = ""
    reached: bool | None = None

    @property
    def cells(self) -> Sequence[str]:
        reached = {None: "", True: "yes", False: "NO"}[self.reached]
        return self.name, self.sqlite, self.postgres, self.target, reached


def table(rows: Sequence[Row]) -> Iterator[str]:
    """Yield the lines of a table in Markdown."""
    cells = [_HEADINGS, *(row.cells for row in rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(_HEADINGS))]
    for number, row in enumerate(cells):
        yield "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |"
        if number == 0:
            yield "|" + "|".join("-" * (width + 2) for width in widths) + "|"
