"""Compare PostgreSQL with SQLite: imports, loading, charges, changes and requests.

    python -m bench.cluster                                      all rows on the real catalogue: about six minutes
    python -m bench.cluster --only charges requests              some rows
    python -m bench.cluster --entries FILE --seconds 1 --repeats 1 --keys 500      a small run

starts a PostgreSQL server, measures each row on both storages in turn, and prints a table with the targets. Of CPU
times, "ours" is that of our processes, "engine" that of the PostgreSQL server. Both storages are on the disk of the
temporary directory. PostgreSQL syncs each commit; SQLite does not (`quota.synchronous = normal`).
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from itertools import cycle
from pathlib import Path
from statistics import median
from typing import TypeVar

from attrs import define, field

from .catalogue.files import REAL, read_entries
from .catalogue.queries import word_pairs
from .clients.http_load import Outcome, Settings, load
from .clients.http_requests import REST_PATH, Credentials, rest_requests
from .clients.rest_clients import arrival_times
from .reports.cluster_report import Row, table
from .servers.data_directory import create_many_keys
from .servers.measured_storages import Cost, MeasuredStorage, database_server, in_folder, on_database
from .servers.stored_content import key_ids, publish_times

T = TypeVar("T")

QUOTA = 1_000_000_000
"""Requests per hour of a key: each request is charged, and none is rejected."""

CHARGED = 1_000
"""Keys that are charged in turn, and entries that are looked up."""

WARM = 200
"""Requests before each measurement."""

PUBLISHED = 30
"""Entries that are published for each repeat."""


@define
class Comparison:
    """The measurements of both storages, which hold the same entries and keys."""

    options: argparse.Namespace
    sqlite: MeasuredStorage
    postgres: MeasuredStorage
    empty: MeasuredStorage
    """Another database, into which entries are imported."""
    new: Sequence[MeasuredStorage]
    """Storages of both kinds for the first charges."""
    rows: list[Row] = field(factory=list)
    _secrets: Sequence[str] = ()

    @property
    def both(self) -> Sequence[MeasuredStorage]:
        return self.sqlite, self.postgres

    def prepare(self) -> None:
        """Import the entries into both storages, create keys, and move the data directory to a database."""
        costs: dict[str, list[Cost]] = {"SQLite": [], "PostgreSQL": []}
        for storage in (self.sqlite, self.empty):
            # The schema is not part of the measurement.
            storage.command("key", "create", "--label", "bench")
        for _ in range(2):
            for storage in (self.sqlite, self.empty):
                costs[storage.name].append(storage.command("import", "--official", self.options.entries))
        (one, again), (other, other_again) = costs.values()
        self._add("import", [one.text, other.text], "≤ 1.2 × SQLite", other.seconds <= 1.2 * one.seconds)
        self._add("import again, unchanged", [again.text, other_again.text])
        self._secrets = create_many_keys(self.sqlite.folder, self.options.keys, QUOTA)
        cost = self.postgres.command("database", "import", self.sqlite.folder)
        self._add("database import", ["", cost.text])

    def load(self) -> None:
        """Measure the start of a server."""
        found = self._repeated(MeasuredStorage.start)
        texts = [Cost(*(median(each) for each in zip(*costs, strict=True))).text for costs in found.values()]
        one, other = (median(seconds for seconds, *_ in costs) for costs in found.values())
        self._add("start with the load of the index", texts, "≤ 1.15 × SQLite", other <= 1.15 * one)

    def fresh(self) -> None:
        """Measure charges of two processes on storages that nothing has been written to, whose statistics are empty."""
        for storage in self.new:
            # The schema is not part of the measurement.
            storage.command("key", "create", "--label", "bench")
        names = [f"{number:012}" for number in range(CHARGED)]
        self._charge("charge, new storage, 2 × 64 callers", self.new, [names, names], 2)

    def charges(self) -> None:
        """Measure charges of one and of two processes."""
        names = []
        for storage in self.both:
            with storage.opened() as opened:
                names.append(key_ids(opened)[:CHARGED])
        for processes, callers in ((2, 64), (1, 64), (1, 1)):
            title = f"charge, {processes} × {callers} callers"
            self._charge(title, self.both, names, processes, callers)

    def _charge(
        self,
        title: str,
        storages: Sequence[MeasuredStorage],
        names: Sequence[Sequence[str]],
        processes: int,
        callers: int = 64,
    ) -> None:
        """Add a row for charges of keys, whose ids are `names` for each of `storages`."""
        texts = []
        for storage, ids in zip(storages, names, strict=True):
            outcomes, engine = storage.charge(ids, callers=callers, seconds=self.options.seconds, processes=processes)
            count = sum(outcome.count for outcome in outcomes)
            rate = sum(outcome.count / outcome.seconds for outcome in outcomes)
            ours, theirs = (1e6 * each / count for each in (sum(outcome.cpu for outcome in outcomes), engine))
            p50 = median(outcome.p50 for outcome in outcomes)
            texts.append(f"{rate:,.0f}/s, p50 {p50:.1f} ms, {storage.cpu_text(ours, theirs)}")
        target: tuple[str, bool | None] = ("", None)
        if (processes, callers) == (2, 64):
            target = "≥ 10,000/s, ≤ 35 + 80 µs", rate >= 10_000 and ours <= 35 and theirs <= 80
        self._add(title, texts, *target)

    def publishing(self) -> None:
        """Measure the time from the call of publish to the event of another process."""
        texts = []
        for storage in self.both:
            with (
                storage.serve() as server,
                storage.opened() as opened,
                arrival_times(server.port, self._secrets[0]) as arrived,
            ):
                times = publish_times(opened, PUBLISHED * self.options.repeats)
                took = sorted(1e3 * (arrived(name) - began) for name, (began, _) in times.items())
            alone = median(1e3 * (end - began) for began, end in times.values())
            p99 = took[len(took) * 99 // 100]
            texts.append(f"p50 {median(took):.0f}, p99 {p99:.0f} ms, of which publish {alone:.0f}")
        self._add("publish → event of another process", texts, "p99 ≤ 100 ms", p99 <= 100)

    def requests(self) -> None:
        """Measure REST searches of whole servers, with cached pages."""
        queries = word_pairs(read_entries(self.options.entries), 50_000, distinct=False)
        requests = rest_requests(REST_PATH, queries, cycle(map(Credentials, self._secrets[:CHARGED])))
        with ExitStack() as stack:
            servers = {storage.name: stack.enter_context(storage.serve()) for storage in self.both}
            for callers in (32, 1):

                def measure(storage: MeasuredStorage, callers: int = callers) -> tuple[Outcome, float]:
                    server, engine = servers[storage.name], storage.engine_cpu()
                    settings = Settings(server.port, server.processes, WARM, callers, self.options.seconds)
                    outcome = load(requests, settings)
                    return outcome, (storage.engine_cpu() - engine) / (outcome.requests + WARM)

                texts, both = [], []
                for storage, found in zip(self.both, self._repeated(measure).values(), strict=True):
                    ours = median(1e6 * outcome.cpu / outcome.requests for outcome, _ in found)
                    engine = median(1e6 * seconds for _, seconds in found)
                    p50 = median(outcome.p50 for outcome, _ in found)
                    texts.append(f"{storage.cpu_text(ours, engine)}, p50 {p50:.1f} ms")
                    both.append(ours)
                target = ("ours ≤ 1.1 × SQLite", both[1] <= 1.1 * both[0]) if callers == 32 else ("", None)
                self._add(f"REST search, cached page, {callers} callers", texts, *target)

    def _add(
        self,
        name: str,
        texts: Sequence[str],
        target: str = "",
        reached: bool | None = None,
    ) -> None:
        """Add a row with the texts of both storages, and print it."""
        sqlite, postgres = texts
        self.rows.append(Row(name, sqlite, postgres, target, reached))
        print(f"{name}: {sqlite or '-'} | {postgres}", file=sys.stderr, flush=True)

    def _repeated(self, measure: Callable[[MeasuredStorage], T]) -> Mapping[str, list[T]]:
        """Return the results of `measure` by storage, in turn."""
        runs = [(storage, measure(storage)) for _ in range(self.options.repeats) for storage in self.both]
        return {storage.name: [result for of, result in runs if of is storage] for storage in self.both}


ROWS = ("load", "charges", "publishing", "requests")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--entries", type=Path, default=REAL, help="gzipped JSON Lines, or a document of the registry")
    parser.add_argument("--only", nargs="+", choices=ROWS, default=ROWS, help="rows besides the imports")
    parser.add_argument("--seconds", type=float, default=4.0, help="duration of a measurement")
    parser.add_argument("--repeats", type=int, default=3, help="measurements whose median is taken")
    parser.add_argument("--keys", type=int, default=40_000, help="API keys")
    options = parser.parse_args()
    options.entries = options.entries.absolute()
    with tempfile.TemporaryDirectory() as name, database_server() as engine:
        folder = Path(name)
        local, other = (in_folder(folder / each) for each in ("data", "other"))
        for storage in (local, other):
            Path(storage.settings["DATA_DIR"]).mkdir()
        moved, imported, new = (on_database(engine, folder, each) for each in ("moved", "imported", "new"))
        comparison = Comparison(options, local, moved, imported, [other, new])
        # First, because autovacuum updates the statistics of a table some time after its first rows.
        comparison.fresh()
        comparison.prepare()
        for row in ROWS:
            if row in options.only:
                getattr(comparison, row)()
    print("\n".join(table(comparison.rows)))


if __name__ == "__main__":
    main()
