"""Options of `twistd directory`, and its service on a reactor in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from socket import create_server
from threading import Event
from typing import Any, cast

import pytest
from twisted.application.service import MultiService, Service
from twisted.internet.address import IPv4Address
from twisted.internet.defer import Deferred
from twisted.internet.error import CannotListenError, ConnectionDone
from twisted.internet.testing import MemoryReactorClock, StringTransport
from twisted.logger import LogEvent
from twisted.python.failure import Failure
from twisted.python.usage import UsageError

from directory_server.config import Config, HttpConfig, MetricsConfig, WebConfig
from directory_server.runtime.process import StartFailed
from directory_server.tap import Options, makeService
from directory_server.tap._service import DirectoryService

from .process.conftest import TIMEOUT, until

pytestmark = pytest.mark.slow

StartService = Callable[..., MemoryReactorClock]

LOOPBACK = ("tcp:8080:interface=127.0.0.1",)


@pytest.fixture(autouse=True)
def no_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Remove settings of the environment, and let the service write only to a temporary folder."""
    for name in ("DIRECTORY_SERVER_CONFIG", "DIRECTORY_SERVER_LISTEN", "DIRECTORY_SERVER_DATA_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)


def parse_options(*arguments: str) -> Config:
    options = Options()
    options.parseOptions(list(arguments))
    return options.config


def error_message(*arguments: str) -> str:
    with pytest.raises((SystemExit, UsageError)) as caught:
        parse_options(*arguments)
    return str(caught.value)


def test_options_set_everything(tmp_path: Path) -> None:
    file = tmp_path / "directory.toml"
    file.write_text("[quota]\nlimit = 7\n[streams]\nper_key = 7\n")
    config = parse_options(
        *("--config", str(file), "-d", "/var/lib/directory", "-s", "quota.limit=8", "--set", "keys.grace=0"),
        *("-l", "tcp:80", "--listen", "unix:/run/directory.sock"),
    )
    assert config.data_dir == Path("/var/lib/directory")
    assert config.listen == ("tcp:80", "unix:/run/directory.sock")
    assert (config.quota.limit, config.streams.per_key, config.keys.grace) == (8, 7, 0)


@pytest.mark.parametrize("arguments", [["--reuse-port"], ["--set", "reuse_port=true"]])
def test_reuse_port_is_set_by_option_or_setting(arguments: list[str]) -> None:
    assert parse_options(*arguments, "--listen", "tcp6:80").reuse_port
    assert not parse_options("--listen", "tcp6:80").reuse_port


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--set", "quota.limt=1"], "quota.limt (--set): is not a setting"),
        (["--set", "quota.limit=0"], "quota.limit (--set): must be at least 1"),
        (["--config", "missing.toml"], "missing.toml: cannot be read"),
        (["--listen", "tcp"], "listen (--listen): must be one or more endpoints"),
        (["--listen", "tcp:x"], "listen (--listen): must have a port from 0 to 65535, as in tcp:8080, not ['tcp:x']"),
        (["--listen", "tcp:80:nonsense=1"], "not 'tcp:80:nonsense=1'"),
        (["--listen", "nonsense:1"], "Unknown endpoint type"),
        (["--listen", "tcp:80", "--listen", "tcp:x"], "not ['tcp:80', 'tcp:x']"),
        (["--listen", "ssl:443:privateKey=missing.pem"], "missing.pem"),
        (["--set", "metrics.listen=tcp:x"], "metrics.listen (--set): must have a port from 0 to 65535"),
        (
            ["--reuse-port", "-l", "tcp:80", "-l", "unix:a.sock"],
            "reuse_port: is for endpoints of tcp, tcp6, ssl and tls",
        ),
        (["--reuse-port", "--listen", "systemd:domain=INET:index=0"], "listen has 'systemd:domain=INET:index=0'"),
        (["--nonsense"], "nonsense"),
        (["nonsense"], "Wrong number of arguments"),
    ],
)
def test_invalid_options_are_reported(arguments: list[str], message: str) -> None:
    assert message in error_message(*arguments)


def test_make_service_opens_nothing(tmp_path: Path) -> None:
    options = Options()
    options.parseOptions(["-d", str(tmp_path / "data")])
    assert list(makeService(options)) == []
    assert not (tmp_path / "data").exists()


@pytest.fixture
def start_service(tmp_path: Path) -> Iterator[StartService]:
    """Return a function that starts a service on a reactor in memory, and returns the reactor."""
    services = []

    def start(listen: tuple[str, ...] = LOOPBACK, url: str = "", **http: Any) -> MemoryReactorClock:
        reactor = MemoryReactorClock()
        web = WebConfig(url=url)
        config = Config(listen=listen, data_dir=tmp_path / "data", http=HttpConfig(**http), web=web)
        service = DirectoryService(config, reactor)
        service.privilegedStartService()
        service.startService()
        services.append(service)
        return reactor

    yield start
    for service in services:
        service.stopService()


def status_line(reactor: MemoryReactorClock, host: str, path: str = "/api/open/openapi.json") -> bytes:
    """Send a request with the Host header `host`; return the status line of the response."""
    transport = StringTransport()
    connection: Any = reactor.tcpServers[0][1].buildProtocol(IPv4Address("TCP", "127.0.0.1", 50_000))
    connection.makeConnection(transport)
    connection.dataReceived(f"GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
    connection.connectionLost(Failure(ConnectionDone()))
    return bytes(transport.value().partition(b"\r\n")[0])


@pytest.mark.parametrize("error", [None, OSError("Too many open files")])
def test_a_process_is_ready_when_the_first_search_waits_for_nothing(
    start_service: StartService, monkeypatch: pytest.MonkeyPatch, error: OSError | None
) -> None:
    is_loading, may_end = Event(), Event()

    def preload(_: Config) -> None:
        is_loading.set()
        assert may_end.wait(TIMEOUT)
        if error is not None:
            raise error

    monkeypatch.setattr("directory_server.composition.preload", preload)
    reactor = start_service(LOOPBACK)
    assert is_loading.wait(TIMEOUT)
    assert status_line(reactor, "localhost", "/readyz") == b"HTTP/1.1 503 Service Unavailable"
    assert status_line(reactor, "localhost") == b"HTTP/1.1 200 OK"
    may_end.set()
    until(lambda: status_line(reactor, "localhost", "/readyz") == b"HTTP/1.1 200 OK", "readiness")


def test_service_listens_on_all_endpoints_with_a_long_backlog(start_service: StartService) -> None:
    reactor = start_service(("tcp:8080:interface=127.0.0.1", "tcp:8081:backlog=7", "unix:directory.sock"))
    assert [(port, interface, backlog) for port, _, backlog, interface in reactor.tcpServers] == [
        (8080, "127.0.0.1", 2048),
        (8081, "", 7),
    ]
    ((address, _, backlog, *_),) = reactor.unixServers
    assert (address, backlog) == ("directory.sock", 2048)


@pytest.mark.parametrize(
    "listen", [LOOPBACK, (r"tcp6:8080:interface=\:\:1",), ("tcp:80:interface=localhost", *LOOPBACK)]
)
def test_loopback_endpoints_accept_loopback_host_names_only(
    start_service: StartService, listen: tuple[str, ...]
) -> None:
    reactor = start_service(listen)
    for host in ("localhost", "localhost:8080", "127.0.0.1:8080", "[::1]:8080", "LOCALHOST"):
        assert status_line(reactor, host) == b"HTTP/1.1 200 OK", host
    for host in ("directory.example", "127.0.0.1.example:8080", "localhost.example", "[::2]"):
        assert status_line(reactor, host) == b"HTTP/1.1 403 Forbidden", host


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://Directory.example/", "directory.example"),
        ("https://directory.example:8443", "directory.example:8443"),
        ("https://bücher.example", "xn--bcher-kva.example"),
        ("https://[2001:db8::1]:8443", "[2001:db8::1]:8443"),
    ],
)
def test_loopback_endpoints_accept_the_public_host(start_service: StartService, url: str, host: str) -> None:
    reactor = start_service(url=url)
    assert status_line(reactor, host) == b"HTTP/1.1 200 OK"
    assert status_line(reactor, "localhost:8080") == b"HTTP/1.1 200 OK"
    assert status_line(reactor, "other.example") == b"HTTP/1.1 403 Forbidden"


def test_a_public_url_without_a_host_name_adds_no_host(start_service: StartService) -> None:
    reactor = start_service(url="https://a..b")
    assert status_line(reactor, "a..b") == b"HTTP/1.1 403 Forbidden"


@pytest.mark.parametrize("listen", [("tcp:8080",), ("tcp:8080:interface=0.0.0.0",), ("tcp:8081", *LOOPBACK)])
def test_other_endpoints_accept_any_host_name(start_service: StartService, listen: tuple[str, ...]) -> None:
    assert status_line(start_service(listen), "directory.example") == b"HTTP/1.1 200 OK"


@pytest.mark.parametrize("listen", [LOOPBACK, ("tcp:8080",)])
def test_allowed_hosts_replace_the_default_host_names(start_service: StartService, listen: tuple[str, ...]) -> None:
    reactor = start_service(listen, allowed_hosts=("directory.example",))
    assert status_line(reactor, "directory.example") == b"HTTP/1.1 200 OK"
    assert status_line(reactor, "localhost") == b"HTTP/1.1 403 Forbidden"


def test_shared_ports_are_bound_after_loading(tmp_path: Path) -> None:
    reactor = MemoryReactorClock()
    config = Config(listen=("tcp:0:interface=127.0.0.1",), reuse_port=True, data_dir=tmp_path / "data")
    service = DirectoryService(config, reactor)
    service.privilegedStartService()
    assert reactor.getReaders() == []
    service.startService()
    (port,) = cast(list[Any], reactor.getReaders())
    assert service.application.readiness.is_preloaded
    assert port.getHost().host == "127.0.0.1"
    assert port.backlog == 2048
    stopped = service.stopService()
    reactor.advance(0)
    assert stopped.called


class SlowService(Service):
    """A service whose stop ends when `stopped` fires."""

    def __init__(self) -> None:
        self.stopped: Deferred[None] = Deferred()

    def stopService(self) -> Deferred[None]:
        super().stopService()
        return self.stopped


def test_a_stage_stops_when_the_stages_that_need_it_have_stopped(tmp_path: Path) -> None:
    reactor = MemoryReactorClock()
    service = DirectoryService(Config(listen=LOOPBACK, data_dir=tmp_path / "data"), reactor)
    service.privilegedStartService()
    service.startService()
    stages = list(cast(Iterable[MultiService], service))
    parts = [SlowService() for _ in stages]
    for stage, part in zip(stages, parts, strict=True):
        part.setServiceParent(stage)
    assert [part.running for part in parts] == [1, 1, 1, 1]
    stopped = service.stopService()
    for part in reversed(parts):
        assert (part.running, stopped.called) == (0, False)
        assert [other.running for other in parts[: parts.index(part)]] == [1] * parts.index(part)
        part.stopped.callback(None)
        reactor.advance(0)
    assert stopped.called


def test_shared_port_in_use_ends_the_process_with_one_line(tmp_path: Path, logged_failures: list[LogEvent]) -> None:
    with create_server(("127.0.0.1", 0)) as other:
        number = other.getsockname()[1]
        config = Config(listen=(f"tcp:{number}:interface=127.0.0.1",), reuse_port=True, data_dir=tmp_path)
        service = DirectoryService(config, MemoryReactorClock())
        service.privilegedStartService()
        with pytest.raises(StartFailed):
            service.startService()
    (event,) = logged_failures
    assert event["reason"].startswith(f"Cannot listen on 127.0.0.1:{number}: [Errno")
    logged_failures.clear()


@pytest.mark.parametrize(("metrics", "setting"), [("tcp:8080", "metrics.listen"), ("tcp:9090", "listen")])
def test_port_in_use_names_the_setting(
    tmp_path: Path, logged_failures: list[LogEvent], metrics: str, setting: str
) -> None:
    listen = "tcp:8081" if setting == "metrics.listen" else "tcp:8080"

    class Reactor(MemoryReactorClock):
        def listenTCP(self, port: int, factory: Any, backlog: int = 50, interface: str = "") -> Any:
            if port == 8080:
                raise CannotListenError(interface, port, OSError(98, "Address already in use"))
            return super().listenTCP(port, factory, backlog, interface)

    config = Config(listen=(listen,), metrics=MetricsConfig(listen=metrics), data_dir=tmp_path)
    with pytest.raises(StartFailed):
        DirectoryService(config, Reactor()).privilegedStartService()
    (event,) = logged_failures
    assert event["reason"].endswith(f"Address already in use. Change the setting {setting}.")
    logged_failures.clear()
