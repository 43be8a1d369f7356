"""Sending of messages: one POST to an address that was checked, without redirects, within bounds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from socket import getaddrinfo
from typing import Any

from attrs import frozen
from twisted.web.http_headers import Headers

from ... import __version__
from ...config import Config
from ...domain.ports.runtime import Offload
from ...http_client import (
    REDIRECT_CODES,
    BadResponse,
    CertificatePolicy,
    CheckedAgent,
    CheckedNetwork,
    RequestBody,
    drop,
    exchanged,
    networks,
    retry_after,
    target_of,
)
from ...runtime.threads import OwnThreads
from ...serialization import encode, rfc3339
from ...texts.sanitize import clean_line
from .rules import Delivery, Message, Sent, signature
from .settings import WebhooksConfig

DEADLINE = 15.0
"""Seconds that a receiver has to answer, the look-up of its name included."""

CONNECT = 5.0
"""Timeout of a connection attempt in seconds."""

LOOKUPS = 4
"""Threads that look up names."""

MAX_ERROR = 200
"""Characters of an error."""

PREFIX = "directory."


class _Failed(Exception):
    """A message was not accepted."""

    def __init__(self, error: str, status: int = 0, delay: float = 0.0) -> None:
        super().__init__(error)
        self.error = error
        self.status = status
        self.delay = delay


@frozen(eq=False)
class Sender:
    """Sends messages. `now` returns seconds since the epoch; `stop` ends the threads."""

    _network: CheckedNetwork
    _clock: Any
    _now: Callable[[], float]
    stop: Callable[[], None] = lambda: None

    async def send(self, url: str, keys: Sequence[str], message: Message) -> Sent:
        """Send a message that is signed with each of `keys`; return what became of it. Raises CancelledError."""
        began, at = self._clock.seconds(), self._now()
        error, status, delay = "", 0, 0.0
        try:
            if not keys:
                raise _Failed("Its secret cannot be read, because the secret of the server was replaced. Rotate it.")
            body = encode({"type": PREFIX + message.type, "timestamp": rfc3339(at), "data": message.data})
            status = await self._within_deadline(url, keys, message.id, int(at), body)
        except _Failed as failed:
            error, status, delay = failed.error, failed.status, failed.delay
        seconds = round(self._clock.seconds() - began, 3)
        line = clean_line(error, MAX_ERROR)
        return Sent(Delivery(at, message.id, message.seq, message.changes, status, line, seconds), delay)

    async def _within_deadline(self, url: str, keys: Sequence[str], message: str, at: int, body: bytes) -> int:
        agent = CheckedAgent(self._network)
        try:
            return await exchanged(self._post(agent, url, keys, message, at, body), DEADLINE, self._clock)
        except BadResponse as error:
            raise _Failed(error.message) from None
        finally:
            # The name is looked up again for the next message.
            agent.close()

    async def _post(
        self, agent: CheckedAgent, url: str, keys: Sequence[str], message: str, at: int, body: bytes
    ) -> int:
        headers = Headers(
            {
                "Content-Type": ["application/json"],
                "User-Agent": [f"directory-server/{__version__} (webhooks)"],
                "webhook-id": [message],
                "webhook-timestamp": [str(at)],
                "webhook-signature": [signature(keys, message, at, body)],
            }
        )
        # A name beyond ASCII is encoded as when the webhook was added.
        response = await agent.request(b"POST", target_of(url).url.encode("ascii"), headers, RequestBody(body))
        # The body of the response has no meaning, so it is not read.
        drop(response)
        status = int(response.code)
        if status in REDIRECT_CODES:
            raise _Failed(f"It answered {status}. Redirects are not followed: change the URL.", status)
        if not 200 <= status < 300:
            raise _Failed(f"It answered {status}.", status, retry_after(response, self._now()))
        return status


def sender_of(
    config: Config,
    reactor: Any,
    now: Callable[[], float],
    *,
    lookup: Offload | None = None,
    resolve: Callable[..., Sequence[Any]] = getaddrinfo,
) -> Sender:
    """Return the sender of a process. It trusts the machine's certificate authorities."""
    threads = OwnThreads(reactor, LOOKUPS, waiting=100)
    allowed = networks(config.of(WebhooksConfig).allowed_networks)
    network = CheckedNetwork(reactor, CertificatePolicy(), allowed, lookup or threads, CONNECT, resolve)
    return Sender(network, reactor, now, threads.stop)
