"""Start and stop of the service: with twistd, with the .tac file, as a daemon."""

from __future__ import annotations

import os
import signal
from contextlib import ExitStack, suppress
from pathlib import Path
from socket import AF_UNIX, SOCK_DGRAM, socket

import pytest

from .conftest import (
    FOREGROUND,
    LISTEN,
    TIMEOUT,
    Client,
    Installation,
    environment,
    run_server,
    run_twistd,
    until,
    wait_for_port,
)

pytestmark = pytest.mark.process

TAC = Path(__file__).parent.parent.parent / "tac" / "directory.tac"


def test_twistd_lists_the_plugin(tmp_path: Path) -> None:
    process = run_twistd("--help", cwd=tmp_path)
    assert process.returncode == 0
    assert [line.split()[0] for line in process.stdout.splitlines() if "directory of MCP servers" in line] == [
        "directory"
    ]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signal_ends_the_process_and_its_streams_cleanly(installation: Installation, number: int) -> None:
    key = installation.new_key()
    with installation.serve() as server:
        assert server.search("anything", key).json == {"data": [], "count": 0}
        stream = server.open_stream(key)
        log = server.stop(number)
        # Raises IncompleteRead if the connection was reset.
        assert stream.read().startswith(b"retry: ")
    # twistd cleans up and then ends itself by the same signal.
    assert server.process.returncode == -number
    assert log.rstrip().endswith("Server Shut Down.")


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the state of a process is read in /proc")
def test_two_signals_at_once_end_the_process_once(installation: Installation) -> None:
    with installation.serve() as server:
        server.process.send_signal(signal.SIGSTOP)
        state = Path(f"/proc/{server.process.pid}/stat")
        until(lambda: ") T " in state.read_text(), "the process pauses")
        # Both are handled in one turn of the reactor.
        server.process.send_signal(signal.SIGTERM)
        server.process.send_signal(signal.SIGINT)
        log = server.stop(signal.SIGCONT)
    assert server.process.returncode in (-signal.SIGTERM, -signal.SIGINT)
    assert log.rstrip().endswith("Server Shut Down.")


def test_other_signals_do_not_end_the_process(installation: Installation) -> None:
    key = installation.new_key()
    with installation.serve() as server:
        for number in (signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2) * 2:
            server.process.send_signal(number)
            assert server.search("anything", key).status == 200
        server.stop()
    assert server.process.returncode == -signal.SIGTERM


def test_sighup_reopens_the_access_log(installation: Installation) -> None:
    key, path = installation.new_key(), installation.folder / "access.log"
    with installation.serve("--set", f"log.access_file={path}") as server:
        server.search("anything", key)
        until(lambda: "/search" in path.read_text(), "the first line")
        path.rename(installation.folder / "access.log.1")
        server.process.send_signal(signal.SIGHUP)
        until(path.exists, "the new file")
        server.search("anything", key)
        until(lambda: "/search" in path.read_text(), "a line in the new file")


def test_tac_file_reads_the_environment_and_notifies_systemd(installation: Installation) -> None:
    key, address = installation.new_key(), str(installation.folder / "notify")
    settings = environment(
        DIRECTORY_SERVER_DATA_DIR=str(installation.data),
        DIRECTORY_SERVER_LISTEN=LISTEN,
        NOTIFY_SOCKET=address,
        WATCHDOG_USEC="100000",
    )
    with ExitStack() as stack:
        systemd = stack.enter_context(socket(AF_UNIX, SOCK_DGRAM))
        systemd.bind(address)
        systemd.settimeout(TIMEOUT)
        arguments: list[object] = [*FOREGROUND, "--no_save", "--python", TAC]
        server = stack.enter_context(run_server(arguments, installation.folder, settings))
        assert [systemd.recv(100) for _ in range(3)] == [b"READY=1", b"WATCHDOG=1", b"WATCHDOG=1"]
        assert server.search("anything", key).status == 200
        server.stop()
    assert server.process.returncode == -signal.SIGTERM


def test_daemon_serves_and_stops(installation: Installation) -> None:
    # The test polls with searches, each of which costs a request.
    folder, key = installation.folder, installation.new_key("--limit", "unlimited")
    pid_file, log = folder / "directory.pid", folder / "directory.log"
    started = run_twistd(
        f"--pidfile={pid_file}", f"--logfile={log}", "directory", "-d", installation.data, "-l", LISTEN, cwd=folder
    )
    assert (started.returncode, started.stdout) == (0, "")
    pid = int(pid_file.read_text())
    try:
        server = Client(wait_for_port(log))
        assert server.search("anything", key).status == 200
        assert server.call_tool("search_mcp", {"keywords": "anything"}, key)["isError"] is False
        installation.command("import", "-", stdin='{"name": "a.example/b", "version": "1", "description": "Weather."}')
        until(lambda: server.search_names("weather", key) == ["a.example/b"], "the import")
        os.kill(pid, signal.SIGTERM)
        until(lambda: not pid_file.exists(), "the removal of the PID file")
        # The last line of the log follows the removal.
        until(lambda: "Server Shut Down." in log.read_text(), "the end of the process")
    finally:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    assert "Traceback" not in log.read_text()


def test_daemon_that_cannot_start_prints_the_reason_and_leaves_no_pid_file(installation: Installation) -> None:
    folder = installation.folder
    pid_file, log = folder / "directory.pid", folder / "directory.log"
    installation.data.touch()
    started = run_twistd(
        f"--pidfile={pid_file}", f"--logfile={log}", "directory", "-d", installation.data, "-l", LISTEN, cwd=folder
    )
    assert started.returncode == 1
    # Without the first line, twistd would print only 100 bytes of the reason.
    reason, error, _ = started.stdout.splitlines()
    assert reason.startswith(f"Cannot serve {installation.data}: ")
    assert reason.endswith(": The data directory cannot be created: File exists.")
    failed = "directory_server.runtime.process.StartFailed: the line above gives the reason"
    assert error == f"An error has occurred: b'{failed}'"
    assert str(installation.data) in log.read_text()
    assert "Traceback" not in log.read_text()
    assert not pid_file.exists()


def test_config_shows_what_the_running_server_uses(installation: Installation) -> None:
    installation.command("quickstart")
    with installation.serve("--set", "quota.limit=7") as server:
        shown = installation.command("config").splitlines()
        assert "quota.limit = 7" in shown
        server.stop()
    assert "quota.limit = 20" in installation.command("config").splitlines()
