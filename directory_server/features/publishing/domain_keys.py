"""Where a domain names its keys: in TXT records of its DNS, or in a file on its web server."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from attrs import frozen
from twisted.internet.defer import Deferred, TimeoutError
from twisted.internet.error import BindError, ConnectError, ConnectionClosed
from twisted.names.dns import TXT
from twisted.names.error import ResolverError

from ...domain.errors import InvalidToken
from ...http_client import (
    BadResponse,
    CertificatePolicy,
    CheckedAgent,
    CheckedNetwork,
    DocumentClient,
    networks,
)
from ...runtime.threads import OwnThreads

DNS_DEADLINE, FILE_DEADLINE = 5.0, 10.0
"""Timeouts in seconds, as in the official registry."""

CONNECT = 5.0
"""Timeout of a connection attempt in seconds."""

MAX_FILE = 4_096
"""Bytes of the file, and of a TXT record."""

LOOKUPS, WAITING = 2, 100
"""Threads that look up addresses, and look-ups that wait for one."""


_DNS_ERRORS = (BindError, ConnectError, ConnectionClosed, OSError, ResolverError, TimeoutError, ValueError)
"""Errors of a look-up. DomainError is a ValueError, and so is that of an address in resolv.conf that is not valid."""


DomainTexts = Callable[[str], Awaitable[Sequence[str]]]
"""Returns the texts in which a domain names its keys. Raises InvalidToken if they cannot be read."""


@frozen(eq=False)
class TextRecords:
    """Reads TXT records. `resolver` is an IResolver, `clock` an IReactorTime."""

    _resolver: Any
    _clock: Any

    async def __call__(self, domain: str) -> Sequence[str]:
        try:
            looking: Deferred[Any] = self._resolver.lookupText(domain, timeout=(1, 3))
            answers, _, _ = await looking.addTimeout(DNS_DEADLINE, self._clock)
        except _DNS_ERRORS as error:
            reason = "did not answer in time" if isinstance(error, TimeoutError) else "gave no TXT record"
            raise InvalidToken(f"The DNS of {domain} {reason}.", code="invalid_proof") from None
        records = [answer.payload for answer in answers if answer.type == TXT]
        return [b"".join(record.data)[:MAX_FILE].decode("ascii", "replace") for record in records]


@frozen(eq=False)
class WellKnownFile:
    """Reads `/.well-known/mcp-registry-auth` by https, from public addresses. `new_agent` is called for each domain."""

    _new_agent: Callable[[], CheckedAgent]
    _clock: Any

    async def __call__(self, domain: str) -> Sequence[str]:
        url, agent = f"https://{domain}/.well-known/mcp-registry-auth", self._new_agent()
        client = DocumentClient(agent, self._clock, "publishing")
        try:
            body = await client.get(url, max_bytes=MAX_FILE, deadline=FILE_DEADLINE, accept="text/plain")
        except BadResponse as error:
            raise InvalidToken(f"{url} cannot be read. {error.message}", code="invalid_proof") from None
        finally:
            await agent.close()
        return [body.decode("ascii", "replace")]


def text_records(reactor: Any) -> TextRecords:
    """Return a reader that asks the name servers of this machine."""
    from twisted.names.client import Resolver

    return TextRecords(Resolver(resolv="/etc/resolv.conf", reactor=reactor), reactor)


def well_known_file(reactor: Any, allowed_networks: Sequence[str]) -> WellKnownFile:
    """Return a reader of files, which connects to public addresses and to those in `allowed_networks` only."""
    # The threads are daemons, so that a look-up does not delay the end of the process.
    lookup = OwnThreads(reactor, limit=LOOKUPS, waiting=WAITING)
    allowed = networks(allowed_networks)
    network = CheckedNetwork(reactor, CertificatePolicy(), allowed, lookup, CONNECT, hides_names=True)
    return WellKnownFile(lambda: CheckedAgent(network), reactor)
