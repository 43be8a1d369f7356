"""Requests in a server: their expiry, their metric, and e-mails about them."""

from __future__ import annotations

from collections.abc import Callable
from email.message import EmailMessage
from email.utils import formatdate
from io import BytesIO
from typing import Any

from attrs import define, field, frozen
from prometheus_client import CollectorRegistry, Gauge
from twisted.internet.defer import Deferred, DeferredSemaphore
from twisted.logger import Logger
from twisted.mail.smtp import ESMTPSenderFactory
from twisted.python.failure import Failure

from ...domain.ports.requests import KINDS, MAIL
from ...domain.requests import STATES
from ...feature.server import SERVICES, Server
from ...runtime.timers import Timer
from ...tables import Requests
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


UPKEEP = 600.0
"""Seconds between two looks for old requests."""

MEASURE = 60.0
"""Seconds between two counts of requests."""


def states_gauge(registry: CollectorRegistry) -> Gauge:
    """Return the metric of requests by kind and state."""
    return Gauge(
        "directory_decision_requests",
        "Stored requests on which somebody decides, by kind and state.",
        ["kind", "state"],
        registry=registry,
    )


def run(server: Server) -> None:
    """Add what ends old requests, counts all, and sends e-mails."""
    settings, waiting, tables = server.config.of(RequestsConfig), states_gauge(server.metrics), server.storage
    kinds, mailer = tuple(server.all(KINDS)), mailer_of(settings, server.reactor, server.now)
    requests, url = Requests(tables.background_tables, kinds), server.config.web.url.rstrip("/")
    of_name = {kind.name: kind for kind in kinds}

    def send(address: str, subject: str, path: str) -> None:
        mailer.send(address, subject, f"{subject}.\n\n{url}{path}\n")

    async def measure() -> None:
        for kind in kinds:
            counts = await Requests(tables.background_tables, (kind,)).count_states()
            for state in STATES:
                waiting.labels(kind.name, state).set(counts.get(state, 0))

    async def expire() -> None:
        now = server.now()
        for request in await requests.expire(now - settings.age, now):
            if request.account and mailer.sends:
                listed = await tables.people.roster.account(request.account)
                if listed is not None and listed.account.disabled_at is None:
                    kind = of_name[request.kind]
                    send(listed.account.email, f"Your {kind.noun} has expired without a decision", kind.page)

    server.add(SERVICES, Timer(UPKEEP, expire, server.reactor), Timer(MEASURE, measure, server.reactor))
    if mailer.sends:
        server.set(MAIL, send)
