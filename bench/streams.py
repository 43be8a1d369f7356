"""Measure the cost of ten thousand streams: memory, opening, broadcasts, heartbeats, and simultaneous reconnects.

    python -m bench.streams [--streams N] [--rounds N] [--idle SECONDS] [--megabytes N]

starts the server and the clients in separate processes, and prints a table. Rates depend on the machine and its load:
compare CPU seconds of runs before and after a change.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time

from .clients.stream_clients import StreamClients, stream_clients
from .servers.stream_server import StreamServer, directory_streams

FEW = 5
"""One in FEW streams is open at the first measurement of memory."""

WINDOW = 200
"""Connections that are opened in parallel."""

ROWS = {
    "bytes": "bytes per stream",
    "after": "… after broadcasts",
    "opened": "opened, 1/s",
    "open_cpu": "… server, CPU µs per stream",
    "p50": "broadcast p50, ms",
    "p99": "… p99",
    "last": "… last",
    "send_cpu": "… server, CPU µs per stream",
    "other": "other requests' p99, ms",
    "quiet": "… without broadcasts",
    "beats": "heartbeats, % of a core per 1,000",
    "storm": "all reconnect, s",
    "storm_cpu": "… server, CPU s",
    "errors": "errors",
}

EVENT = b"event: message\ndata: %s\n\n" % (b"x" * 8_000)
"""An event of the measurement with stalled readers."""

READERS, STALLED = 10, 20
"""Streams that are read in that measurement, and those that are not."""


def measure(streams: int, rounds: int, idle: float) -> dict[str, float]:
    """Return the figures of the server."""
    with (
        directory_streams(streams) as server,
        stream_clients(server.stream_request) as readers,
        stream_clients(server.stream_request) as prober,
    ):
        found: dict[str, float] = {"errors": 0}
        # Warm up: the first requests load data and modules.
        _probed(server, prober, 3)
        idle_share = _busy(server, readers, idle)
        found["errors"] += readers("open", streams // FEW, WINDOW)["errors"]
        time.sleep(1)
        few = server.memory()
        cpu = server.cpu()
        opened = readers("open", streams - streams // FEW, WINDOW)
        more = streams - streams // FEW
        found["errors"] += opened["errors"]
        found["opened"] = more / opened["seconds"]
        found["open_cpu"] = (server.cpu() - cpu) / more * 1e6
        time.sleep(1)
        found["bytes"] = (server.memory() - few) / more
        if idle:
            found["beats"] = (_busy(server, readers, idle) - idle_share) / (streams / 1000) * 100
        found |= _broadcasts(server, readers, prober, streams, rounds)
        time.sleep(1)
        found["after"] = (server.memory() - few) / more
        cpu = server.cpu()
        readers("close")
        storm = readers("open", streams, streams)
        found["storm"], found["storm_cpu"] = storm["seconds"], server.cpu() - cpu
        found["errors"] += storm["errors"] + server.failures()
        return found


def _busy(server: StreamServer, readers: StreamClients, seconds: float) -> float:
    """Return the share of a core that the server uses without requests."""
    cpu = server.cpu()
    readers("idle", seconds)
    return (server.cpu() - cpu) / seconds if seconds else 0


def _broadcasts(
    server: StreamServer, readers: StreamClients, prober: StreamClients, streams: int, rounds: int
) -> dict[str, float]:
    quiet = _probed(server, prober, 2)
    cpu, latencies, missing = server.cpu(), [], 0
    prober.start("probe", server.stream_request.port, server.probe, rounds * 0.5, 0.002)
    for number in range(rounds):
        token = b"token-%d-" % number
        readers.start("await_all", token)
        began = time.monotonic()
        server.publish(_event(token))
        result = readers.result()
        latencies += [arrived - began for arrived in result["arrived"]]
        missing += result["missing"]
        time.sleep(max(0.0, began + 0.5 - time.monotonic()))
    times = prober.result()
    spent = server.cpu() - cpu
    latencies.sort()
    return {
        "p50": _ms(latencies[len(latencies) // 2]),
        "p99": _ms(latencies[int(len(latencies) * 0.99)]),
        "last": _ms(latencies[-1]),
        "send_cpu": spent / rounds / streams * 1e6,
        "other": _ms(statistics.quantiles(times, n=100)[98]),
        "quiet": quiet,
        "errors": missing,
    }


def _probed(server: StreamServer, prober: StreamClients, seconds: float) -> float:
    times = prober("probe", server.stream_request.port, server.probe, seconds, 0.002)
    return _ms(statistics.quantiles(times, n=100)[98])


def _event(token: bytes) -> bytes:
    notification = {"jsonrpc": "2.0", "method": "notifications/resources/list_changed", "params": {"_": token.decode()}}
    return b"event: message\ndata: " + json.dumps(notification).encode() + b"\n\n"


def _ms(seconds: float) -> float:
    return seconds * 1000


def stalled(count: int, megabytes: int) -> str:
    """Publish `megabytes` of events to READERS and `count` stalled readers; return the result as text.

    The readers receive four events at a time, and the next ones after they have read them.
    """
    with directory_streams(count + READERS) as server, stream_clients(server.stream_request) as readers:
        readers("open", count + READERS, 10)
        readers("stall", count)
        silent = readers("stalled")
        rounds = megabytes * 1_000_000 // (4 * len(EVENT))
        buffered = missing = 0
        began, before, most = time.monotonic(), server.memory(), 0
        for number in range(rounds):
            token = b"event: message\ndata: token-%d-\n\n" % number
            readers.start("await_all", token, silent)
            server.publish(EVENT * 4 + token)
            missing += readers.result()["missing"]
            # Check often until the stalled streams are aborted.
            if number % 200 == 0 or buffered == 0 or number < 3_000:
                state = server.control("buffered=1")
                buffered, most = max(buffered, state["buffered"]), max(most, server.memory() - before)
        state = server.control()
        return (
            f"{megabytes} MB published to {count} stalled readers and {READERS} others in "
            f"{time.monotonic() - began:.0f} s: at most {buffered / 1000:.0f} KB buffered for one, by kernel and "
            f"server; memory at most {most / 1e6:.1f} MB above the start; {state['aborted']} aborted, "
            f"{state['open']} open, {missing} events missed by the others"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--streams", type=int, default=10_000, help="open streams")
    parser.add_argument("--rounds", type=int, default=10, help="broadcasts")
    parser.add_argument("--idle", type=float, default=30.0, help="seconds of the heartbeat measurement; 0 skips it")
    parser.add_argument("--megabytes", type=int, default=200, help="megabytes published to stalled readers; 0 skips it")
    chosen = parser.parse_args()
    if chosen.megabytes:
        print(stalled(STALLED, chosen.megabytes), flush=True)
    figures = measure(chosen.streams, chosen.rounds, chosen.idle)
    width = max(map(len, ROWS.values())) + 2
    for key, title in ROWS.items():
        if key in figures:
            value = figures[key]
            print(title.ljust(width) + (f"{value:,.0f}" if value >= 100 else f"{value:.3g}").rjust(12))


if __name__ == "__main__":
    main()
