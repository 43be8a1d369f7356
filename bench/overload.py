"""Measure what one client of another key waits for while many clients of one key ask for more than the server can do.

    python -m bench.overload [--clients 200] [--seconds 15] [--entries FILE] [--folder FOLDER]

starts a server with the entries of FILE, and measures a search in a closed loop, alone and beside the clients of the
other key, whose searches are all different. It does so directly, behind HAProxy with the settings of the documentation,
and there from another address. FOLDER keeps the data directory for the next run.

"p50" and "max" are in milliseconds, "×" is the ratio of p50 to that alone. "crowd" are the responses to the many
clients in a second, "503" the share of them that was rejected, "crowd p50" is in seconds. "/healthz" is requested
beside. The command fails if a ratio exceeds 3.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import select
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import cycle, repeat
from pathlib import Path
from threading import Thread
from urllib.parse import quote_plus

from .catalogue.files import REAL, read_entries
from .catalogue.queries import word_pairs
from .clients.http_load import Client, restore, save
from .clients.http_requests import REST_PATH, Credentials, rest_requests
from .servers.data_directory import create_keys, publish
from .servers.launch import PROJECT, directory_server, free_port, launch

MOST = 3.0
"""The largest ratio of the times beside the crowd and alone."""

WARM = 3.0
"""Seconds of the crowd before the measurement."""

HAPROXY = """
defaults
    mode http
    timeout connect 5s
    timeout client 75s
    timeout server 60s
frontend directory
    bind 127.0.0.1:{port}
    option forwardfor
    default_backend directory
backend directory
    option abortonclose
    server one 127.0.0.1:{server} maxconn 5000
"""


def crowd(port: int, clients: int, seconds: float, requests: Sequence[bytes]) -> dict[str, float]:
    """Send `requests` on `clients` connections, each after the response to the last; return numbers of responses."""
    poll, remaining, times, rejected = select.epoll(), cycle(requests), list[float](), 0
    connections: dict[int, Client] = {}

    def open_next() -> None:
        client = Client(port)
        client.send(next(remaining))
        assert client.socket is not None
        connections[client.socket.fileno()] = client
        poll.register(client.socket.fileno(), select.EPOLLIN)

    for _ in range(clients):
        open_next()
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        for number, _ in poll.poll(1):
            response = connections[number].read()
            if response is None:
                continue
            rejected += response[0].startswith(b"http/1.1 503")
            times.append(time.perf_counter() - connections[number].began)
            connections[number].send(next(remaining))
    return {"responses": len(times), "rejected": rejected, "p50": statistics.median(times or [0.0])}


@contextmanager
def running_crowd(port: int, clients: int, seconds: float, file: Path, core: int | None) -> Iterator[dict[str, float]]:
    """Run a crowd in a process of its own; its numbers are in the result after the block."""
    found: dict[str, float] = {}
    if not clients:
        yield found
        return
    command = [sys.executable, "-m", "bench.overload", "--crowd", str(port), str(clients), str(seconds), str(file)]
    with subprocess.Popen(command, cwd=PROJECT, stdout=subprocess.PIPE) as process:
        if core is not None:
            os.sched_setaffinity(process.pid, {core})
        time.sleep(WARM)
        yield found
        found |= json.loads(process.communicate()[0])


def times_of(
    port: int, targets: Iterator[str], key: str, seconds: float, source: str, pause: float = 0.0
) -> list[float]:
    """Request `targets` from the address `source`, one after the other; return the milliseconds of each."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120, source_address=(source, 0))
    times, end = [], time.perf_counter() + seconds
    while (began := time.perf_counter()) < end:
        connection.request("GET", next(targets), headers={"Authorization": f"Bearer {key}"} if key else {})
        response = connection.getresponse()
        response.read()
        if response.status == 200:
            times.append((time.perf_counter() - began) * 1000)
        time.sleep(pause)
    return times


def measure(name: str, port: int, source: str, options: argparse.Namespace, files: Sequence[Path], key: str) -> float:
    """Print a line of the client of `key` alone and one beside the crowd; return the ratio of its times."""
    core = max(os.sched_getaffinity(0)) if os.cpu_count() != 1 else None
    medians = []
    for clients in (0, options.clients):
        queries, healthy = map(quote_plus, files[0].read_text().splitlines()), list[float]()
        with running_crowd(port, clients, options.seconds + 2 * WARM, files[1], core) as found:
            health = Thread(
                target=lambda: healthy.extend(  # noqa: B023
                    times_of(port, repeat("/healthz"), "", options.seconds, source, 0.1)
                )
            )
            health.start()
            targets = (f"{REST_PATH}?keywords={query}" for query in queries)
            times = times_of(port, targets, key, options.seconds, source)
            health.join()
        medians.append(statistics.median(times) if times else float("inf"))
        count = found.get("responses", 0)
        print(
            f"{name:<26} {clients:>5} {len(times):>6} {medians[-1]:>8.1f} {max(times, default=0):>8.1f} "
            f"{medians[-1] / medians[0]:>5.1f} {count / (options.seconds + 2 * WARM):>7.1f} "
            f"{found.get('rejected', 0) / max(count, 1):>6.0%} {found.get('p50', 0):>9.2f} "
            f"{statistics.median(healthy):>9.1f} {max(healthy):>9.1f}",
            flush=True,
        )
    return medians[1] / medians[0]


def main() -> None:
    if sys.argv[1:2] == ["--crowd"]:
        number, clients, seconds, path = sys.argv[2:]
        print(json.dumps(crowd(int(number), int(clients), float(seconds), list(restore(Path(path))))))
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clients", type=int, default=200, help="clients of the other key")
    parser.add_argument("--seconds", type=float, default=15.0, help="seconds of each measurement")
    parser.add_argument("--entries", type=Path, default=REAL, help="the file of entries")
    parser.add_argument("--folder", type=Path, help="the folder of the data directory")
    options = parser.parse_args()
    entries = read_entries(options.entries)
    haproxy = shutil.which("haproxy", path=f"{os.environ['PATH']}:/usr/sbin")
    with tempfile.TemporaryDirectory() as name:
        folder = options.folder or Path(name) / "data"
        if not (folder / "directory.db").exists():
            publish(folder, iter(entries))
        many, one = create_keys(folder, 2, None)
        queries = word_pairs(entries, 40_000, distinct=True)
        files = Path(name) / "one", Path(name) / "many"
        files[0].write_text("\n".join(queries[:5_000]))
        save(rest_requests(REST_PATH, queries[5_000:], repeat(Credentials(many))), files[1])
        settings = {
            "HTTP__PER_ADDRESS": "5000",
            "HTTP__TRUSTED_PROXIES": "127.0.0.1",
            "HTTP__ALLOWED_HOSTS": "127.0.0.1",
        }
        core = min(os.sched_getaffinity(0))
        print(
            f"load {os.getloadavg()[0]:.1f}\n{'':<26} {'crowd':>5} {'count':>6} {'p50':>8} {'max':>8} {'×':>5} "
            f"{'crowd/s':>7} {'503':>6} {'crowd p50':>9} {'/healthz':>9} {'max':>9}",
            flush=True,
        )
        with directory_server(folder, core=core, settings=settings) as running:
            ratios = [measure("directly", running.port, "127.0.0.1", options, files, one)]
            if haproxy is not None:
                port, file = free_port(), Path(name) / "haproxy.cfg"
                file.write_text(HAPROXY.format(port=port, server=running.port))
                with launch([haproxy, "-db", "-f", file], port):
                    ratios.append(measure("HAProxy, same address", port, "127.0.0.1", options, files, one))
                    ratios.append(measure("HAProxy, another address", port, "127.0.0.2", options, files, one))
        print(f"load {os.getloadavg()[0]:.1f}")
    if max(ratios) > MOST:
        sys.exit(f"The p50 is up to {max(ratios):.1f} times that alone.")


if __name__ == "__main__":
    main()
