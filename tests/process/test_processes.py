"""The setting `processes`: a supervisor with server processes that share their ports and memory."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from socket import AF_UNIX, SOCK_DGRAM, socket
from urllib.request import urlopen

import pytest

from bench.measurement.process_stats import children, memory, proportional_memory
from directory_server.supervisor import VARIABLE

from ..ports import free_port
from .conftest import (
    FOREGROUND,
    LISTEN,
    SEARCH,
    TIMEOUT,
    TWISTD,
    Client,
    Installation,
    Server,
    environment,
    run_server,
    run_twistd,
)
from .conftest import until as wait_until
from .test_fleet import process_of
from .test_metrics import metric

pytestmark = pytest.mark.process

METRICS = "metrics.listen=tcp:{port}:interface=127.0.0.{{process}}"


@contextmanager
def supervised(
    installation: Installation, *options: object, port: int | None = None, **variables: str
) -> Iterator[Server]:
    """Run two processes and their supervisor; yield a client of both, and the supervisor."""
    listen = f"tcp:{port or free_port()}:interface=127.0.0.1"
    arguments = [*FOREGROUND, "directory", "-d", installation.data, "-l", listen, "--processes", 2, *options]
    with run_server(arguments, installation.folder, environment(**variables)) as server:
        serving = re.compile(r"Serving [\d,]+ entries")
        wait_until(lambda: len(serving.findall(server.log.read_text())) == 2, "both processes serve")
        wait_until(lambda: len(both(server)) >= 2, "a response by each")
        yield server


def both(client: Client) -> set[str]:
    """Return the names of the two processes that answer requests, or of one if 20 requests reach no other."""
    names: set[str] = set()
    for _ in range(20):
        names.add(process_of(client.request("/healthz")))
        if len(names) == 2:
            break
    return names


def log_of(server: Server) -> str:
    return server.log.read_text()


def test_processes_share_port_quota_and_memory_and_stop_together(installation: Installation) -> None:
    key, address = installation.new_key(), str(installation.folder / "notify")
    port = free_port()
    options = (
        *("--set", METRICS.format(port=port)),
        *("--set", f"log.access_file={installation.folder}/access-{{process}}.log"),
    )
    with socket(AF_UNIX, SOCK_DGRAM) as systemd:
        systemd.bind(address)
        systemd.settimeout(TIMEOUT)
        with supervised(installation, *options, NOTIFY_SOCKET=address) as server:
            supervisor, workers = server.process.pid, children(server.process.pid)
            assert systemd.recv(100) == b"READY=1"
            assert len(workers) == 2
            assert sorted(server.search("a", key).status for _ in range(22)) == [200] * 20 + [401] * 2
            counter = f'directory_requests_total{{api="{SEARCH}",method="GET",status="200"}}'
            texts = [metrics_text(f"127.0.0.{number}", port) for number in (1, 2)]
            assert sum(metric(text, counter) for text in texts if counter in text) == 20
            logs = [installation.folder / f"access-{number}.log" for number in (1, 2)]
            wait_until(lambda: all(path.stat().st_size for path in logs), "a line in each file")
            for path in logs:
                path.rename(path.with_suffix(".old"))
            server.process.send_signal(signal.SIGHUP)
            wait_until(lambda: both(server) and all(path.exists() for path in logs), "new files")
            # The supervisor imports nothing of the server.
            assert memory(supervisor) < memory(workers[1]) / 3
            shared = sum(map(memory, workers)) - sum(map(proportional_memory, workers))
            # Without a fork they share libraries only, about 30 MB.
            assert shared > 60_000_000
            log = server.stop()
        systemd.setblocking(False)
        with pytest.raises(BlockingIOError):
            systemd.recv(100)
    assert server.process.returncode == 0
    assert log.count("Server Shut Down.") == 2
    assert "Traceback" not in log
    assert not any(Path(f"/proc/{pid}").exists() for pid in workers)


def metrics_text(host: str, port: int) -> str:
    with urlopen(f"http://{host}:{port}/metrics", timeout=TIMEOUT) as response:
        return str(response.read(), "utf-8")


def test_killed_processes_are_restarted_and_no_charge_is_lost(installation: Installation) -> None:
    key = installation.new_key("--limit", 100)
    with supervised(installation) as server:
        before = children(server.process.pid)
        assert server.search("a", key).status == 200
        for pid in before:
            os.kill(pid, signal.SIGKILL)
        ends = [f"(id {pid}) has ended: SIGKILL." for pid in before]
        wait_until(lambda: all(end in log_of(server) for end in ends), "the ends are logged")
        wait_until(lambda: len(set(children(server.process.pid)) - set(before)) == 2, "new processes")
        wait_until(lambda: answering(server) == 2, "both serve again")
        response = server.search("a", key)
        assert (response.status, response.headers["X-RateLimit-Remaining"]) == (200, "98")
        assert "Traceback" not in server.stop()
    assert server.process.returncode == 0


def answering(server: Server) -> int:
    """Return how many processes answer; 0 while none listens."""
    try:
        return len(both(server))
    except OSError:
        return 0


def test_a_process_that_serves_reports_by_its_reactor(installation: Installation) -> None:
    reading, writing = os.pipe()
    variables = environment(**{VARIABLE: f"{writing} {os.getpid()} 7"})
    options = ("-d", installation.data, "-l", LISTEN, "--processes", 2)
    command = [sys.executable, TWISTD, *FOREGROUND, "directory", *options]
    with open(installation.folder / "log", "wb") as log, open(reading) as reports:
        process = subprocess.Popen(
            [*map(str, command)], stdout=log, stderr=log, env=variables, pass_fds=[writing], cwd=installation.folder
        )
        os.close(writing)
        lines = iter(reports.readline, "")
        assert next(line for line in lines if not line.startswith("starting 7")) == f"ready 7 {process.pid}\n"
        # The thread that reports the start has ended.
        assert [next(lines) for _ in range(2)] == [f"ready 7 {process.pid}\n"] * 2
        process.send_signal(signal.SIGTERM)
        process.wait(TIMEOUT)
    assert "Traceback" not in (installation.folder / "log").read_text()


def test_processes_stop_with_a_killed_supervisor_while_others_serve_the_port(installation: Installation) -> None:
    port = free_port()
    with supervised(installation, port=port) as first:
        old, workers = both(first), children(first.process.pid)
        with supervised(installation, port=port) as second:
            first.process.kill()
            wait_until(lambda: not any(Path(f"/proc/{pid}/exe").exists() for pid in workers), "the processes end")
            assert log_of(first).count("Server Shut Down.") == 2
            new = both(second)
            assert len(new) == 2
            assert not new & old


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--processes", 0), "processes (--set): must be at least 1"),
        (("--processes", 2, "-l", "unix:/tmp/socket"), "processes: is for endpoints of tcp, tcp6, ssl and tls"),
        (("--processes", 2, "-d", "/proc/sys"), "Cannot serve /proc/sys: "),
    ],
)
def test_error_is_printed_once(tmp_path: Path, options: tuple[object, ...], message: str) -> None:
    process = run_twistd(*FOREGROUND, "directory", *options, cwd=tmp_path)
    assert (process.returncode, process.stdout.count(message)) == (1, 1)
    assert "Traceback" not in process.stdout


def test_daemon_has_one_process(tmp_path: Path) -> None:
    process = run_twistd("directory", "--processes", 2, cwd=tmp_path)
    assert process.returncode == 1
    assert "processes: several are for twistd with --nodaemon and without --logfile" in process.stdout
