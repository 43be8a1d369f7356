"""E-mail: messages of plain text, sent by a mail server in the background."""

from __future__ import annotations

from collections.abc import Callable
from email.message import EmailMessage
from email.utils import formatdate
from io import BytesIO
from typing import Any

from attrs import define, field, frozen
from twisted.internet.defer import Deferred, DeferredSemaphore
from twisted.logger import Logger
from twisted.mail.smtp import ESMTPSenderFactory
from twisted.python.failure import Failure

from ...texts.sanitize import clean_line
from .settings import RequestsConfig

DEADLINE = 30.0
"""Seconds after which a message is given up."""

MAX_WAITING = 100
"""Messages that wait. Further ones are not sent: members and approvers see the same on their pages."""

MAX_AT_ONCE = 2
"""Connections to the mail server."""

MAX_SUBJECT = 200
"""Characters of a subject."""

Deliver = Callable[[str, bytes], "Deferred[Any]"]
"""Sends a message to an address."""


@frozen
class Smtp:
    """Sends messages by a mail server (RFC 5321), with STARTTLS (RFC 3207) unless that is off.

    The certificate of the server is verified. `_password` is empty without a user.
    """

    _settings: RequestsConfig
    _password: str
    _reactor: Any

    def deliver(self, address: str, message: bytes) -> Deferred[Any]:
        """Send a message; the Deferred fails if that takes more than DEADLINE seconds."""
        settings = self._settings
        sent: Deferred[Any] = Deferred(lambda _: _abort(factory, connector))
        factory = ESMTPSenderFactory(
            settings.mail_user.encode() or None,
            self._password.encode() or None,
            settings.mail_sender,
            [address],
            BytesIO(message),
            sent,
            retries=0,
            timeout=DEADLINE,
            heloFallback=False,
            requireAuthentication=bool(settings.mail_user),
            requireTransportSecurity=settings.mail_tls,
            hostname=settings.mail_host,
        )
        connector = self._reactor.connectTCP(settings.mail_host, settings.mail_port, factory, timeout=DEADLINE)
        return sent.addTimeout(DEADLINE, self._reactor)


def _abort(factory: Any, connector: Any) -> None:
    factory.sendFinished = True
    if factory.currentProtocol and factory.currentProtocol.transport:
        factory.currentProtocol.transport.abortConnection()
    else:
        connector.disconnect()


@define(eq=False)
class Mailer:
    """Sends messages in the background. Errors are logged. Without `_deliver` nothing is sent."""

    _sender: str
    _deliver: Deliver | None
    _now: Callable[[], float]
    _waiting: int = field(default=0, init=False)
    _slots: DeferredSemaphore = field(factory=lambda: DeferredSemaphore(MAX_AT_ONCE), init=False)

    _log = Logger()

    @property
    def sends(self) -> bool:
        """Whether there is a mail server."""
        return self._deliver is not None

    def send(self, address: str, subject: str, text: str) -> None:
        """Send a text to an address, unless too many messages wait."""
        if self._deliver is None:
            return
        if self._waiting >= MAX_WAITING:
            self._log.warn("An e-mail is not sent: too many wait for the mail server.")
            return
        self._waiting += 1
        sending = self._slots.run(self._begin, self._deliver, address, subject, text)
        sending.addErrback(self._failed).addBoth(self._done)

    def _begin(self, deliver: Deliver, address: str, subject: str, text: str) -> Deferred[Any]:
        return deliver(address, message_of(self._sender, address, subject, text, self._now()))

    def _failed(self, failure: Failure) -> None:
        reason = clean_line(str(failure.value) or type(failure.value).__name__, MAX_SUBJECT)
        self._log.warn("An e-mail is not sent: {reason}", reason=reason)

    def _done(self, _: object) -> None:
        self._waiting -= 1


def mailer_of(settings: RequestsConfig, reactor: Any, now: Callable[[], float]) -> Mailer:
    """Return the mailer of `settings`. Raises ConfigError."""
    deliver = Smtp(settings, settings.password(), reactor).deliver if settings.mail_host else None
    return Mailer(settings.mail_sender, deliver, now)


def message_of(sender: str, address: str, subject: str, text: str, at: float) -> bytes:
    """Return a message of plain text (RFC 5322), written `at` seconds since the epoch. Its subject is one line.

    Lines end with LF, for which Twisted sends CRLF.
    """
    message = EmailMessage()
    message["From"], message["To"] = sender, address
    message["Subject"] = clean_line(subject, MAX_SUBJECT)
    message["Date"] = formatdate(at)
    # RFC 3834, section 5: no answer of a program to this message.
    message["Auto-Submitted"] = "auto-generated"
    message.set_content(text)
    return message.as_bytes()
