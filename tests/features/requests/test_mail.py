"""E-mail to members: messages, the protocol with a server in memory, and its limits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from attrs import field, frozen
from twisted.internet.address import IPv4Address
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IReactorTCP
from twisted.internet.testing import MemoryReactorClock
from twisted.mail.smtp import ESMTP, IMessageDelivery
from twisted.python.failure import Failure
from twisted.test.iosim import FakeTransport, connect
from zope.interface import implementer

from directory_server.config import ConfigError
from directory_server.features.requests.service import DEADLINE, MAX_WAITING, Mailer, Smtp, message_of
from directory_server.features.requests.settings import RequestsConfig

from ...logs import captured_lines
from ...web.conftest import configured

CONFIG = configured(Path(), {"web.url": "https://directory.example.org"})
SETTINGS = RequestsConfig(mail_host="mail.example.org", mail_sender="directory@example.org", mail_tls=False)


@frozen
class Received:
    """Receives a message."""

    lines: list[bytes] = field(factory=list)

    def lineReceived(self, line: bytes) -> None:
        self.lines.append(line)

    def eomReceived(self) -> Deferred[None]:
        done: Deferred[None] = Deferred()
        done.callback(None)
        return done

    def connectionLost(self) -> None:
        pass


@implementer(IMessageDelivery)
@frozen
class Delivery:
    """Accepts all messages."""

    message: Received = field(factory=Received)

    def receivedHeader(self, helo: object, origin: object, recipients: object) -> bytes:
        return b"Received: in memory"

    def validateFrom(self, helo: object, origin: object) -> object:
        return origin

    def validateTo(self, user: object) -> Any:
        return lambda: self.message


def start(settings: RequestsConfig = SETTINGS) -> tuple[MemoryReactorClock, Deferred[Any], list[str], Any]:
    """Send a message; return the reactor, the Deferred, a list for the error, and the factory of the client."""
    reactor = MemoryReactorClock()
    errors: list[str] = []
    assert IReactorTCP.providedBy(reactor)
    message = message_of(settings.mail_sender, "ann@example.org", "x/y: approved\r\nBcc: eve@example.org", "Hi.", 0.0)
    sent = Smtp(settings, "", reactor).deliver("ann@example.org", message)

    def note(failure: Failure) -> None:
        errors.append(type(failure.value).__name__)

    sent.addErrback(note)
    [(host, port, factory, _, _)] = reactor.tcpClients
    assert (host, port) == ("mail.example.org", 587)
    return reactor, sent, errors, factory


def converse(factory: Any) -> Received:
    """Connect the client to a server in memory; return what the server received."""
    delivery, address = Delivery(), IPv4Address("TCP", "127.0.0.1", 587)
    server: Any = ESMTP()
    client = factory.buildProtocol(None)
    server.delivery = delivery
    server.host = b"mail.example.org"
    transports = [FakeTransport(each, each is server, address, address) for each in (server, client)]
    pump = connect(server, transports[0], client, transports[1])
    pump.flush()
    return delivery.message


def test_a_message_reaches_the_server() -> None:
    _, sent, errors, factory = start()
    received = converse(factory)
    assert errors == []
    assert sent.called
    head, _, body = b"\n".join(received.lines).partition(b"\n\n")
    assert b"To: ann@example.org" in head
    assert b"\nBcc:" not in head
    assert b"Subject: x/y: approved Bcc: eve@example.org" in head
    assert b"Date: Thu, 01 Jan 1970 00:00:00 -0000" in head
    assert body.strip() == b"Hi."


def test_a_server_without_tls_gets_nothing_unless_that_is_allowed() -> None:
    settings = RequestsConfig(mail_host="mail.example.org", mail_sender="directory@example.org")
    _, _, errors, factory = start(settings)
    received = converse(factory)
    assert errors
    assert received.lines == []


def test_a_server_that_does_not_answer_is_given_up() -> None:
    reactor, sent, errors, _ = start()
    reactor.advance(DEADLINE - 1)
    assert not errors
    reactor.advance(1)
    assert sent.called
    assert errors == ["TimeoutError"]


def test_messages_wait_and_are_bounded() -> None:
    deliveries: list[Deferred[Any]] = []

    def deliver(address: str, message: bytes) -> Deferred[Any]:
        deliveries.append(Deferred())
        return deliveries[-1]

    mailer = Mailer(SETTINGS.mail_sender, deliver, lambda: 0.0)
    with captured_lines() as lines:
        for _ in range(MAX_WAITING + 1):
            mailer.send("ann@example.org", "Hello", "Hi.")
        assert sum("too many wait" in line for line in lines) == 1
        assert len(deliveries) == 2
        deliveries[0].callback(None)
        deliveries[1].errback(ConnectionError("No\nroute."))
        assert len(deliveries) == 4
        assert sum("An e-mail is not sent: No route." in line for line in lines) == 1
        mailer.send("ann@example.org", "Hello", "Hi.")
        mailer.send("ann@example.org", "Hello", "Hi.")
    assert sum("too many wait" in line for line in lines) == 1
    Mailer("", None, lambda: 0.0).send("ann@example.org", "Hello", "Hi.")


def test_settings_are_checked(tmp_path: Path) -> None:
    for wrong in (
        RequestsConfig(mail_host="mail.example.org"),
        RequestsConfig(mail_host="m", mail_sender="d@example.org", mail_user="d"),
        RequestsConfig(
            mail_host="m", mail_sender="d@example.org", mail_user="d", mail_password_file="x", mail_tls=False
        ),
    ):
        with pytest.raises(ConfigError):
            wrong.check(CONFIG)
    SETTINGS.check(CONFIG)
    with pytest.raises(ConfigError, match=r"needs web\.url"):
        SETTINGS.check(configured(tmp_path, {}))
    password = tmp_path / "password"
    password.write_text("secret\n")
    settings = RequestsConfig(
        mail_host="m", mail_sender="d@example.org", mail_user="d", mail_password_file=str(password)
    )
    settings.check(CONFIG)
    assert settings.password() == "secret"
    password.unlink()
    with pytest.raises(ConfigError, match="cannot read"):
        settings.password()
