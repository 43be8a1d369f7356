"""Run tests in several processes, forked from one that has collected them: `pytest --workers 4`.

To import and collect all tests takes longer than most files take to run, so it is done once. A file runs in one
process: its tests share servers. The processes take the files in the order of their names.
"""

from __future__ import annotations

import gc
import os
import signal
from array import array
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import groupby
from multiprocessing.connection import Connection, Pipe, wait
from typing import Any, cast
from warnings import WarningMessage

import pytest
from attrs import define

from .process import fork_server


@define(eq=False)
class _Worker:
    """A worker, as the process that has forked it sees it. `test` is what it runs."""

    pid: int
    reports: Connection
    test: str = ""


@define(eq=False)
class _Sender:
    """In a worker, the plugin that sends what the other process reports."""

    _config: pytest.Config
    _reports: Connection

    def pytest_runtest_logstart(self, nodeid: str, location: tuple[str, int | None, str]) -> None:
        self._send("pytest_runtest_logstart", nodeid=nodeid, location=location)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        sent = self._config.hook.pytest_report_to_serializable(config=self._config, report=report)
        self._send("pytest_runtest_logreport", report=sent)

    def pytest_warning_recorded(self, warning_message: WarningMessage, when: str, nodeid: str, location: Any) -> None:
        # The other process has recorded those of the collection itself.
        if when == "runtest":
            shown, message = warning_message, str(warning_message.message)
            sent = WarningMessage(message, shown.category, shown.filename, shown.lineno)
            self._send("pytest_warning_recorded", warning_message=sent, when=when, nodeid=nodeid, location=location)

    def _send(self, hook: str, **arguments: Any) -> None:
        # After an interruption, the other process does not read any more.
        with suppress(BrokenPipeError):
            self._reports.send((hook, arguments))


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that names the number of processes."""
    parser.addoption("--workers", type=int, default=0, help="Run the tests in so many processes.")


def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """Run the tests in workers, if the option asks for any. A worker leaves this function as well, and then ends."""
    count, config = session.config.getoption("workers"), session.config
    if not count or session.testsfailed or config.option.collectonly:
        return None
    files = [list(items) for _, items in groupby(session.items, lambda item: item.path)]
    # Each worker takes the next number from a pipe.
    numbers, fill = os.pipe()
    os.write(fill, array("I", range(len(files))).tobytes())
    os.close(fill)
    if any(item.get_closest_marker("process") for item in session.items):
        fork_server.start()
    # What was printed is in a file that the workers would share.
    capture = config.pluginmanager.getplugin("capturemanager")
    capture.stop_global_capturing()
    # Memory that no collection touches stays shared.
    gc.collect()
    gc.freeze()
    workers: list[_Worker] = []
    for number in range(count):
        received, sent = Pipe(duplex=False)
        pid = os.fork()
        if pid == 0:
            for connection in (received, *(worker.reports for worker in workers)):
                connection.close()
            capture.start_global_capturing()
            _become_worker(config, number, sent)
            _run(_take(files, numbers))
            return True
        sent.close()
        workers.append(_Worker(pid, received))
    capture.start_global_capturing()
    try:
        _report(session, workers, numbers)
    except BaseException:
        for worker in workers:
            os.kill(worker.pid, signal.SIGINT)
        raise
    finally:
        _wait(session, workers)
    return True


def _become_worker(config: pytest.Config, number: int, reports: Connection) -> None:
    """Make a forked process independent of the others."""
    from twisted.internet import reactor

    signal.signal(signal.SIGINT, _interrupt)
    # Plugins of pytest leave to the other process what is done once, such as the cache of failed tests.
    vars(config)["workerinput"] = {"workerid": f"worker{number}"}
    config.pluginmanager.unregister(name="terminalreporter")
    config.pluginmanager.register(_Sender(config, reports))
    # The processes share the descriptors that the reactor has opened.
    cast(Any, type(reactor)).__init__(reactor)


def _interrupt(number: int, frame: Any) -> None:
    """Interrupt the tests. A second signal does not: a terminal sends one, and the other process sends one."""
    signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt


def _take(files: Sequence[list[pytest.Item]], numbers: int) -> Iterator[pytest.Item]:
    """Yield the tests of the files that no other worker has taken."""
    while number := os.read(numbers, array("I").itemsize):
        yield from files[array("I", number)[0]]


def _run(items: Iterator[pytest.Item]) -> None:
    item = next(items, None)
    while item is not None:
        following = next(items, None)
        item.ihook.pytest_runtest_protocol(item=item, nextitem=following)
        item = following


def _report(session: pytest.Session, workers: Sequence[_Worker], numbers: int) -> None:
    """Report what the workers send, until all have ended."""
    running = {worker.reports: worker for worker in workers}
    while running:
        for reports in wait([*running]):
            assert isinstance(reports, Connection)
            try:
                hook, arguments = reports.recv()
            except (EOFError, OSError):
                del running[reports]
                continue
            if sent := arguments.get("report"):
                arguments = {
                    "report": session.config.hook.pytest_report_from_serializable(config=session.config, data=sent)
                }
            running[reports].test = arguments.get("nodeid", running[reports].test)
            call = getattr(session.config.hook, hook)
            call.call_historic(kwargs=arguments) if call.is_historic() else call(**arguments)
        if session.shouldfail or session.shouldstop:
            # The workers end after the files that they run.
            while os.read(numbers, 65_536):
                pass


def _wait(session: pytest.Session, workers: Sequence[_Worker]) -> None:
    """Wait for the end of the workers. One that a signal has ended fails the run."""
    for worker in workers:
        status = os.waitstatus_to_exitcode(os.waitpid(worker.pid, 0)[1])
        if status not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
            session.testsfailed += 1
            terminal = session.config.pluginmanager.getplugin("terminalreporter")
            terminal.write_line(f"\nA worker ended with {status}; its last test was {worker.test or 'none'}.", red=True)
