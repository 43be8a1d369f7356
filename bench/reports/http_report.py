"""Report of `bench.http`: a table of medians."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median

from attrs import frozen

from ..clients.http_load import Outcome

STUB, TWO_PROCESSES = "ours, stub index", "ours, stub index, two processes"
REAL = "ours, search end to end"

HEADING = (
    f"{'server':<34} {'API and queries':<22} {'CPU µs':>8} {'min':>7} {'max':>7} {'× ours':>7} {'req/s':>8} "
    f"{'client':>7} {'p50 ms':>7} {'p99 ms':>7} {'bytes':>7}"
)

BUSY_CLIENT = 0.9
"""Share of a core from which the client, not the server, limits the requests per second."""


@frozen
class Row:
    """A row of the table: the measurements of one server with one API and one kind of queries."""

    server: str
    api: str
    outcomes: Sequence[Outcome]

    @property
    def all_cpu(self) -> list[float]:
        """CPU microseconds of the server per request, of each repeat."""
        return [outcome.cpu / outcome.requests * 1e6 for outcome in self.outcomes]

    @property
    def cpu(self) -> float:
        """CPU microseconds of the server per request, the median."""
        return median(self.all_cpu)

    @property
    def client(self) -> float:
        """Share of a core that the client used, the median."""
        return median(outcome.client / outcome.seconds for outcome in self.outcomes)

    @property
    def rate(self) -> float:
        """Requests per second, the median."""
        return median(outcome.requests / outcome.seconds for outcome in self.outcomes)

    def line(self, ours: Row | None = None) -> str:
        """Return the row as text, with the ratio of its CPU time to that of `ours`."""
        ratio = f"{self.cpu / ours.cpu:.2f}" if ours is not None else "-"
        limited = "*" if self.client > BUSY_CLIENT else " "
        p50, p99 = median(outcome.p50 for outcome in self.outcomes), median(outcome.p99 for outcome in self.outcomes)
        return (
            f"{self.server:<34} {self.api:<22} {self.cpu:>8.1f} {min(self.all_cpu):>7.1f} {max(self.all_cpu):>7.1f} "
            f"{ratio:>7} {self.rate:>7,.0f}{limited} {self.client:>6.0%} {p50:>7.1f} {p99:>7.1f} "
            f"{self.outcomes[0].size:>7,}"
        )


def table(rows: Sequence[Row]) -> Iterator[str]:
    """Yield the table. The ratio is to our server with the stub index, the same API and distinct queries."""
    yield HEADING
    for row in rows:
        yield row.line(reference(rows, row))
    if any(row.client > BUSY_CLIENT for row in rows):
        yield "* The client used nearly a whole core and limits the requests per second. Compare CPU times."


def reference(rows: Sequence[Row], row: Row) -> Row | None:
    """Return the row of our server that `row` is compared with."""
    api = f"{row.api.partition(',')[0]}, distinct"
    return next((each for each in rows if (each.server, each.api) == (STUB, api)), None)
