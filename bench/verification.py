"""Measure searches beside checks of a fleet of fake remotes.

    python -m bench.verification                     2,000 remotes, 50 searches a second
    python -m bench.verification --fast 3000         checks per minute of the phase that checks the whole fleet

Three phases on one data directory: the server checks nothing, it checks within the default limits, and it checks the
whole fleet as fast as `--fast` allows. Searches start at fixed times, so that a blocked server delays all later ones.
The last phase compares the number of remotes of each status with what the fleet serves.
"""

from __future__ import annotations

import argparse
import http.client
import json
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

from attrs import frozen

from .measurement.process_stats import cpu_seconds, memory
from .servers.launch import PROJECT, directory_server, free_port, run_command

WORDS = ("database", "send email", "browser automation", "weather forecast", "github issues", "pdf to markdown")
"""Searches, each with a number so that few pages come from the cache."""

_CHECKS = re.compile(r'^directory_checks_total\{kind="remote",status="(\w+)"\} (\S+)$', re.MULTILINE)


@frozen
class Phase:
    """The latencies of the searches of a phase in seconds, its checks by status, CPU seconds and its duration."""

    name: str
    latencies: Sequence[float]
    checks: Counter[str]
    cpu: float
    seconds: float
    memory: int

    def row(self) -> str:
        ordered = sorted(self.latencies)
        shares = [1_000 * ordered[min(len(ordered) - 1, int(len(ordered) * each))] for each in (0.5, 0.99, 0.999)]
        times = " | ".join(f"{each:.1f}" for each in shares)
        done = self.checks.total()
        rate = 60 * done / self.seconds
        return (
            f"| {self.name} | {len(ordered):,} | {times} | {done:,} | {rate:,.0f} | "
            f"{100 * self.cpu / self.seconds:.0f} | {self.memory / 1e6:.0f} |"
        )


def main() -> None:
    options = _options()
    with (
        tempfile.TemporaryDirectory() as name,
        subprocess.Popen(
            [sys.executable, "-m", "bench.servers.remote_fleet", str(options.remotes)],
            cwd=PROJECT,
            stdout=subprocess.PIPE,
            text=True,
        ) as fleet,
    ):
        try:
            folder = Path(name) / "data"
            assert fleet.stdout is not None
            remotes = [json.loads(fleet.stdout.readline()) for _ in range(options.remotes)]
            key = _filled(folder, remotes)
            expected = Counter(status for *_, status in remotes)
            limits = {"VERIFY__REMOTES": "true", "VERIFY__ALLOWED_NETWORKS": "127.0.0.0/8"}
            fast = {"VERIFY__PER_MINUTE": str(options.fast), "VERIFY__CONCURRENCY": "32", "VERIFY__PER_HOST": "6000"}
            phases = [
                _phase("no checks", folder, key, options.rate, options.seconds, {}),
                _phase("60 per minute, the default", folder, key, options.rate, options.seconds, limits),
                _phase(
                    f"{options.fast:,} per minute", folder, key, options.rate, options.most, limits | fast, expected
                ),
            ]
        finally:
            fleet.kill()
    print("| checks | searches | p50, ms | p99, ms | p99.9, ms | checks done | per minute | CPU, % | memory, MB |")
    print("|---|---|---|---|---|---|---|---|---|")
    for phase in phases:
        print(phase.row())
    found = phases[1].checks + phases[2].checks
    for status in sorted({*expected, *found}):
        print(f"{status}: {found[status]:,} of {expected[status]:,}")


def _filled(folder: Path, remotes: Sequence[Sequence[object]]) -> str:
    """Fill a data directory with the sample and an entry for each remote; return the secret of a key."""
    run_command(folder, "quickstart")
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
        for number, (url, transport, _, _) in enumerate(remotes):
            server = {"name": f"io.example/fake-{number}", "version": "1.0.0", "description": f"Fake remote {number}."}
            file.write(json.dumps({**server, "remotes": [{"type": transport, "url": url}]}) + "\n")
        file.flush()
        run_command(folder, "import", file.name)
    return run_command(folder, "key", "create", "--label", "bench", "--limit", "unlimited")[1].strip()


def _phase(
    name: str,
    folder: Path,
    key: str,
    rate: float,
    seconds: float,
    settings: dict[str, str],
    until: Counter[str] | None = None,
) -> Phase:
    """Search for `seconds`, or until all remotes of `until` were checked."""
    metrics = free_port()
    listen = {"METRICS__LISTEN": f"tcp:{metrics}:interface=127.0.0.1", "LOG__ACCESS": "off"}
    with directory_server(folder, settings=settings | listen) as server:
        # The first searches load the lexicon.
        for word in WORDS:
            _search(server.port, key, word)
        began, cpu, latencies = time.monotonic(), cpu_seconds([server.process]), list[float]()
        ended = threading.Event()
        threads = [
            threading.Thread(target=_load, args=(server.port, key, rate / 4, number, latencies, ended))
            for number in range(4)
        ]
        for thread in threads:
            thread.start()
        while time.monotonic() - began < seconds:
            time.sleep(0.5)
            if until is not None and _due(metrics) == 0 and _checks(metrics).total() > 0.9 * until.total():
                break
        checks, elapsed = _checks(metrics), time.monotonic() - began
        used = cpu_seconds([server.process]) - cpu
        ended.set()
        for thread in threads:
            thread.join()
        return Phase(name, latencies, checks, used, elapsed, memory(server.process))


def _load(port: int, key: str, rate: float, number: int, latencies: list[float], ended: threading.Event) -> None:
    """Search `rate` times a second; add the seconds from the time when each search should have started."""
    start = time.monotonic() + number / rate / 4
    for count in range(1_000_000):
        due = start + count / rate
        time.sleep(max(0.0, due - time.monotonic()))
        if ended.is_set():
            return
        _search(port, key, f"{WORDS[count % len(WORDS)]} {number}{count}")
        latencies.append(time.monotonic() - due)


def _search(port: int, key: str, words: str) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request(
        "GET", f"/api/open/v1/search?keywords={quote(words)}", headers={"Authorization": f"Bearer {key}"}
    )
    response = connection.getresponse()
    assert response.status == 200, response.read()
    response.read()
    connection.close()


def _scrape(port: int) -> str:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", "/metrics")
    text = connection.getresponse().read().decode()
    connection.close()
    return text


def _checks(port: int) -> Counter[str]:
    return Counter({status: int(float(number)) for status, number in _CHECKS.findall(_scrape(port))})


def _due(port: int) -> int:
    found = re.search(r"^directory_checks_due (\S+)$", _scrape(port), re.MULTILINE)
    return int(float(found[1])) if found else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--remotes", type=int, default=2_000, help="remotes of the fleet")
    parser.add_argument("--rate", type=float, default=50.0, help="searches per second")
    parser.add_argument("--seconds", type=float, default=20.0, help="duration of the first two phases")
    parser.add_argument("--fast", type=int, default=3_000, help="checks per minute of the last phase")
    parser.add_argument("--most", type=float, default=120.0, help="greatest duration of the last phase in seconds")
    return parser.parse_args()


if __name__ == "__main__":
    main()
