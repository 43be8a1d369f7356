"""What the benchmark of HTTP has found: one table, medians of the repeats, and how far the goals are reached."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median

from attrs import frozen

from ._load import Outcome

STUB, FLEET = "ours, stub index", "ours, stub index, two processes"

HEADING = (
    f"{'server':<34} {'door':<22} {'req/s':>7} {'CPU s/10k':>9} {'from':>6} {'to':>6} {'p50 ms':>7} {'p99 ms':>7} "
    f"{'bytes':>7} {'× ours':>7}"
)


@frozen
class Row:
    """A line of the table: all that was measured of one server through one door."""

    server: str
    door: str
    outcomes: Sequence[Outcome]

    @property
    def way_in(self) -> str:
        """The door without the kind of queries."""
        return self.door.partition(",")[0]

    @property
    def all_cpu(self) -> list[float]:
        """CPU seconds for 10,000 requests, of each repeat."""
        return [each.cpu / each.requests * 10_000 for each in self.outcomes]

    @property
    def cpu(self) -> float:
        """CPU seconds for 10,000 requests."""
        return median(self.all_cpu)

    @property
    def client(self) -> float:
        """CPU seconds of the client for 10,000 requests."""
        return median(each.client / each.requests * 10_000 for each in self.outcomes)

    @property
    def rate(self) -> float:
        """Requests a second."""
        return median(each.requests / each.seconds for each in self.outcomes)

    def line(self, ours: Row | None = None) -> str:
        """Return the row as text, with its CPU in times that of `ours`."""
        done = self.outcomes
        times = f"{self.cpu / ours.cpu:>7.1f}" if ours is not None else ""
        return (
            f"{self.server:<34} {self.door:<22} {self.rate:>7,.0f} {self.cpu:>9.3f} {min(self.all_cpu):>6.3f} "
            f"{max(self.all_cpu):>6.3f} {median(each.p50 for each in done):>7.1f} "
            f"{median(each.p99 for each in done):>7.1f} {done[0].size:>7,} {times}"
        )


def table(rows: Sequence[Row]) -> Iterator[str]:
    """Yield the table; × is the CPU in times that of our server with the same door, page, and distinct queries."""
    yield HEADING
    for row in rows:
        yield row.line(_find(rows, STUB, f"{row.way_in}, distinct"))


def goals(rows: Sequence[Row]) -> Iterator[str]:
    """Yield what was asked of the server, and what was found."""
    call = _find(rows, STUB, "MCP, distinct")
    for peer, least in (("Python SDK", 8), ("TypeScript SDK", 5), ("FastMCP", 25)):
        modes = [row for row in rows if row.server.startswith(peer)]
        if call is not None and modes:
            best = min(modes, key=lambda row: row.cpu)
            yield _verdict(
                f"tools/call: {best.server} takes",
                best.cpu / call.cpu,
                f"at least {least}",
                best.cpu >= least * call.cpu,
            )
    search = _find(rows, STUB, "REST, repeated")
    nginx = _find(rows, "nginx, static file", "REST")
    starlette = _find(rows, "Starlette, REST", "REST")
    if search is not None and nginx is not None:
        yield _verdict(
            "repeated search, beside nginx", search.cpu / nginx.cpu, "at most 4", search.cpu <= 4 * nginx.cpu
        )
    if search is not None and starlette is not None:
        yield _verdict(
            "repeated search: Starlette takes", starlette.cpu / search.cpu, "above 1", starlette.cpu > search.cpu
        )
    for row in rows:
        one = _find(rows, STUB, row.door)
        if row.server == FLEET and one is not None:
            yield _verdict(f"two processes, {row.door}: CPU", row.cpu / one.cpu, "about 1", row.cpu <= 1.15 * one.cpu)
            # A client that shares the two cores takes its part of them.
            bound = 2 * 10_000 / (row.cpu + row.client) / one.rate
            yield _verdict(
                f"two processes, {row.door}: requests/s",
                row.rate / one.rate,
                f"at least 1.7; two cores that the client is on too allow {bound:.2f}",
                row.rate >= 1.7 * one.rate,
            )


def _verdict(what: str, found: float, asked: str, reached: bool) -> str:
    return f"{what:<52} {found:>6.2f} ×   {'reached' if reached else 'NOT reached'}: {asked}"


def _find(rows: Sequence[Row], server: str, door: str) -> Row | None:
    return next((row for row in rows if (row.server, row.door) == (server, door)), None)
