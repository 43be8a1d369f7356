"""Measure the CPU time of a request: our server with keys, quota and limits, beside other servers without them.

    python -m bench.http [--requests 10000] [--repeats 3] [--entries FILE] [--only WORD]

runs each server alone on the first core and a client with 64 open connections on the second. With two server processes
there are 128 connections, and all processes share the cores. All servers return the same page of 50 hits. For each
distinct query, ours joins stored records of hits, the others encode the page, and nginx sends a file. The rows "search
end to end" search the entries of FILE instead. Each request to our server is charged to a key of 20 requests per hour;
there are as many keys as needed.

"CPU µs" is the CPU time of the server's processes per request, user and system, the median of the repeats. "× ours" is
its ratio to our server with the stub index, the same API and distinct queries. "client" is the share of a core that the
client used. Install the other servers with bench/servers/peers/install.sh; absent ones are skipped.
"""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from itertools import cycle
from pathlib import Path

from directory_server.domain.entries import Entry

from .catalogue.files import REAL, read_entries, read_sample
from .catalogue.queries import word_pairs
from .clients.http_load import LoadError, Outcome, Settings, load
from .clients.http_requests import MCP_PATH, REST_PATH, Credentials, rest_requests, tool_calls
from .measurement.process_stats import wait_until_idle
from .reports import http_report
from .reports.http_report import HEADING, Row, table
from .servers.data_directory import create_keys
from .servers.http_contenders import Contender, contenders, open_session, running
from .servers.launch import DidNotStart, Running, directory_server, run_command

PER_KEY = 20
"""Requests per hour of a key, the default quota."""

WARM = 500
"""Requests before each measurement."""

CONNECTIONS = 64
"""Open connections per server process."""

Requests = Callable[..., list[bytes]]

APIS: dict[str, Requests] = {
    "REST": partial(rest_requests, REST_PATH),
    "MCP": partial(tool_calls, MCP_PATH),
    "MCP modern": partial(tool_calls, MCP_PATH, modern=True),
}


class HttpBenchmark:
    """Measures the servers in turn and collects the outcomes."""

    def __init__(self, options: argparse.Namespace, entries: Sequence[Entry], folder: Path) -> None:
        cores = sorted(os.sched_getaffinity(0))
        self._server_core: int | None = cores[0] if len(cores) > 1 else None
        self._client_core: int | None = cores[1] if len(cores) > 1 else None
        self._count = options.requests + WARM
        self._seconds = options.seconds
        self._queries = {distinct: word_pairs(entries, self._count, distinct=distinct) for distinct in (True, False)}
        self._folder = folder
        self._file: Path = options.entries
        self._real = f"{http_report.REAL}, {len(entries):,}"
        self._only = options.only
        self._contenders = contenders(shutil.which("nginx"))
        self._outcomes: dict[tuple[str, str], list[Outcome]] = {}

    def rows(self) -> list[Row]:
        return [Row(server, api, outcomes) for (server, api), outcomes in self._outcomes.items()]

    def prepare(self) -> None:
        """Print the servers that are skipped, and import the real entries."""
        for contender in self._contenders:
            if contender.requirement and self._only in contender.name:
                print(f"{contender.name}: skipped, {contender.requirement}", flush=True)
        if not self._file.exists():
            print(f"{http_report.REAL}: skipped, the file {self._file} does not exist (--entries FILE)", flush=True)
        elif self._only in self._real:
            run_command(self._folder / self._real, "import", "--official", str(self._file))

    def repeat(self) -> None:
        """Measure each server once."""
        ours = [http_report.STUB, http_report.TWO_PROCESSES]
        if self._file.exists():
            ours.insert(1, self._real)
        for name in ours:
            if self._only in name:
                self._try(name, partial(self._measure_ours, name))
        for contender in self._contenders:
            if self._only in contender.name and not contender.requirement:
                self._try(contender.name, partial(self._measure_contender, contender))

    def _try(self, name: str, measure: Callable[[], None]) -> None:
        try:
            measure()
        except (DidNotStart, OSError) as error:
            print(f"{name}: skipped, {error}", flush=True)

    def _measure_ours(self, name: str) -> None:
        """Measure our server with each API, with distinct and with repeated queries."""
        is_real = name == self._real
        apis = {api: APIS[api] for api in (("REST", "MCP") if is_real else APIS)}
        keys = create_keys(self._folder / name, -(-self._count // PER_KEY) * len(apis) * 2, PER_KEY)
        credentials = iter([Credentials(key) for _ in range(PER_KEY) for key in keys])
        folders = [self._folder / name] * (2 if name == http_report.TWO_PROCESSES else 1)
        with directory_server(*folders, core=self._server_core, stub=not is_real) as server:
            for api, requests in apis.items():
                for distinct in (True, False):
                    label = f"{api}, {'distinct' if distinct else 'repeated'}"
                    self._measure(name, label, server, requests(self._queries[distinct], credentials))

    def _measure_contender(self, contender: Contender) -> None:
        with running(contender, self._server_core) as server:
            count = CONNECTIONS if contender.sessions else 0
            sessions = [open_session(server, contender.path) for _ in range(count)]
            credentials = cycle([Credentials(session=session) for session in sessions] or [Credentials()])
            queries = self._queries[True]
            if contender.path == "/mcp":
                requests = tool_calls(contender.path, queries, credentials, modern=contender.modern)
                self._measure(contender.name, "MCP modern" if contender.modern else "MCP", server, requests)
            else:
                self._measure(contender.name, "REST", server, rest_requests(contender.path, queries, credentials))

    def _measure(self, name: str, api: str, server: Running, requests: Sequence[bytes]) -> None:
        processes = len(server.processes)
        core = self._client_core if processes == 1 else None
        settings = Settings(server.port, server.processes, WARM, CONNECTIONS * processes, self._seconds, core)
        wait_until_idle(server.processes)
        try:
            outcome = load(requests, settings)
        except LoadError as error:
            print(f"{name}, {api}: {error}", flush=True)
            return
        self._outcomes.setdefault((name, api), []).append(outcome)
        row = Row(name, api, [outcome])
        print(row.line(http_report.reference(self.rows(), row)), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=10_000, help="maximum requests of a measurement")
    parser.add_argument("--seconds", type=float, default=15.0, help="maximum seconds of a measurement")
    parser.add_argument("--repeats", type=int, default=3, help="measurements of each row")
    parser.add_argument(
        "--entries", type=Path, default=REAL, help="entries of the search end to end (default: %(default)s)"
    )
    parser.add_argument("--only", default="", metavar="WORD", help="measure only servers with WORD in the name")
    options = parser.parse_args()

    entries = read_entries(options.entries) if options.entries.exists() else read_sample()
    with tempfile.TemporaryDirectory() as folder:
        benchmark = HttpBenchmark(options, entries, Path(folder))
        benchmark.prepare()
        for number in range(1, options.repeats + 1):
            print(f"\nrepeat {number} of {options.repeats}\n{HEADING}", flush=True)
            benchmark.repeat()
    print("\nall repeats", *table(benchmark.rows()), sep="\n")


if __name__ == "__main__":
    main()
