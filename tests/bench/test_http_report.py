"""The report of `bench.http`."""

from __future__ import annotations

from attrs import evolve

from bench.clients.http_load import Outcome
from bench.reports.http_report import REAL, STUB, TWO_PROCESSES, Row, table

OUTCOME = Outcome(requests=10_000, failed=0, seconds=2.0, cpu=1.0, client=0.4, p50=1.0, p99=2.0, size=6_000, first="{}")


def row(server: str, api: str, cpu: float, client: float = 0.4) -> Row:
    """Return a row of 10,000 requests that took `cpu` seconds."""
    return Row(server, api, [evolve(OUTCOME, cpu=each, client=client) for each in (cpu * 0.9, cpu, cpu * 1.5)])


ROWS = [
    row(STUB, "REST, distinct", 1.0),
    row(STUB, "MCP, distinct", 2.0),
    row(f"{REAL}, 25,984", "REST, distinct", 10.0),
    row(TWO_PROCESSES, "MCP, distinct", 2.2, client=1.9),
    row("another server", "REST", 1.7),
    row("nginx, static file", "REST", 0.2),
    row("Python SDK, modern", "MCP modern", 20.0),
    row("Python SDK, default", "MCP", 40.0),
]


def test_each_row_has_its_cpu_time_and_its_ratio_to_ours() -> None:
    lines = {line[:34].strip(): line[57:].split() for line in table(ROWS[2:3] + ROWS[:1] + ROWS[4:])}
    assert lines[f"{REAL}, 25,984"][:4] == ["1000.0", "900.0", "1500.0", "10.00"]
    assert lines["another server"][:4] == ["170.0", "153.0", "255.0", "1.70"]
    # The server that the row is compared with was not measured.
    assert lines["Python SDK, default"][3] == "-"


def test_a_client_that_limits_the_rate_is_marked() -> None:
    marked = [line for line in table(ROWS) if "*" in line]
    assert TWO_PROCESSES in marked[0]
    assert marked[1].startswith("* The client used nearly a whole core")
    assert len(marked) == 2
