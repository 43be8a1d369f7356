"""Report of `bench.http`: a table of medians and the goals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median

from attrs import frozen

from ..clients.http_load import Outcome

STUB, TWO_PROCESSES = "ours, stub index", "ours, stub index, two processes"
TWO_DIRECTORIES = "ours, stub index, two directories"
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
    return _find(rows, STUB, f"{row.api.partition(',')[0]}, distinct")


def goals(rows: Sequence[Row]) -> Iterator[str]:
    """Yield a line for each goal whose rows were measured."""
    call = _find(rows, STUB, "MCP, distinct")
    modes = [row for row in rows if row.server.startswith("Python SDK")]
    if call is not None and modes:
        best = min(modes, key=lambda row: row.cpu)
        ratio = best.cpu / call.cpu
        yield _goal(f"tools/call: {best.server}, CPU", ratio, "at least 6", ratio >= 6)
    search = _find(rows, STUB, "REST, distinct")
    nginx = _find(rows, "nginx, static file", "REST")
    if search is not None and nginx is not None:
        ratio = search.cpu / nginx.cpu
        yield _goal("REST: ours beside nginx's static file, CPU", ratio, "at most 5.5", ratio <= 5.5)
    for row in rows:
        if row.server == TWO_PROCESSES:
            yield from _two_processes(rows, row)
        if row.server.startswith(REAL) and row.api.endswith(", distinct"):
            yield _goal(f"distinct search end to end, {row.api}: CPU", row.cpu, "at most 900", row.cpu <= 900, "µs")


def _two_processes(rows: Sequence[Row], both: Row) -> Iterator[str]:
    """Yield the ratio of two processes to one, and its two factors: the floor of the machine, and sharing."""
    one, apart = _find(rows, STUB, both.api), _find(rows, TWO_DIRECTORIES, both.api)
    if one is not None:
        ratio = both.cpu / one.cpu
        yield _goal(f"two processes beside one, {both.api}: CPU", ratio, "at most 1.15", ratio <= 1.15)
    if one is not None and apart is not None:
        yield _part(f"    floor: two directories beside one, {both.api}", apart.cpu / one.cpu)
    if apart is not None:
        yield _part(f"    sharing: one directory beside two, {both.api}", both.cpu / apart.cpu)


def _part(name: str, found: float) -> str:
    return f"{name:<60} {found:>8.2f} ×"


def _goal(name: str, found: float, bound: str, reached: bool, unit: str = "×") -> str:
    return f"{name:<60} {found:>8.2f} {unit:<2}  {'reached' if reached else 'NOT reached'}: {bound}"


def _find(rows: Sequence[Row], server: str, api: str) -> Row | None:
    return next((row for row in rows if (row.server, row.api) == (server, api)), None)
