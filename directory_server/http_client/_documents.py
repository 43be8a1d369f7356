"""Client that gets small documents: bounded in bytes and time, without redirects."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from attrs import frozen
from OpenSSL import SSL
from twisted.internet.defer import Deferred
from twisted.internet.error import ConnectError, ConnectionClosed, DNSLookupError, SSLError
from twisted.python.failure import Failure
from twisted.web.client import Agent, ResponseFailed, ResponseNeverReceived
from twisted.web.http_headers import Headers
from twisted.web.iweb import IAgent

from .. import __version__
from ._bounded_agent import BoundedAgent, HeadBoundedPool
from ._certificates import CertificatePolicy
from ._checked_agent import InvalidTarget, NotAllowed
from ._errors import BadCertificate, BadResponse, failed_exchange, unreachable
from ._requests import RequestBody
from ._responses import cancellable, drop, read_body

CONNECT = 5.0
"""Timeout of a connection attempt in seconds."""


@frozen(eq=False)
class DocumentClient:
    """Gets documents. Hosts that others name need a CheckedAgent. `purpose` is a part of the user agent."""

    _agent: IAgent
    _clock: Any
    _purpose: str

    async def get(
        self,
        url: str,
        *,
        max_bytes: int,
        deadline: float,
        accept: str = "application/json",
        authorization: str = "",
        form: Mapping[str, str] | None = None,
    ) -> bytes:
        """Return the body of the response 200 to a GET of `url`, or to a POST of `form`, within `deadline` seconds.

        `authorization` is the value of this header. Raises BadResponse for everything else, a redirect too; its message
        says what "it" did.
        """
        headers = Headers(
            {
                "Accept": [accept],
                "Accept-Encoding": ["gzip"],
                "User-Agent": [f"directory-server/{__version__} ({self._purpose})"],
                **({"Authorization": [authorization]} if authorization else {}),
                **({} if form is None else {"Content-Type": ["application/x-www-form-urlencoded"]}),
            }
        )
        body = None if form is None else RequestBody(urlencode(form).encode("ascii"))
        fetching = Deferred.fromCoroutine(cancellable(self._fetch(url, max_bytes, headers, body)))
        try:
            return await fetching.addTimeout(deadline, self._clock, _late)
        except (DNSLookupError, ConnectError) as error:
            raise BadResponse(f"{unreachable(error)}.") from None
        except (InvalidTarget, NotAllowed) as error:
            raise BadResponse(error.message) from None
        except (BadCertificate, ConnectionClosed, ResponseFailed, ResponseNeverReceived, SSL.Error, SSLError) as error:
            raise BadResponse(failed_exchange(error)) from None

    async def _fetch(self, url: str, max_bytes: int, headers: Headers, form: RequestBody | None) -> bytes:
        method = b"GET" if form is None else b"POST"
        response = await BoundedAgent(self._agent, max_bytes).request(method, url.encode("ascii"), headers, form)
        if response.code != 200:
            drop(response)
            raise BadResponse(f"It answered {response.code}.")
        received = bytearray()
        await read_body(response, received.extend)
        return bytes(received)


def document_client(reactor: Any, purpose: str) -> DocumentClient:
    """Return a client on `reactor`. It trusts the machine's certificate authorities and keeps no connections."""
    pool = HeadBoundedPool(reactor, persistent=False)
    return DocumentClient(Agent(reactor, CertificatePolicy(), connectTimeout=CONNECT, pool=pool), reactor, purpose)


def _late(result: Any, deadline: float) -> Failure:
    """Return the failure of a request that was cancelled, with whatever error the Agent reports that."""
    return Failure(BadResponse(f"It did not answer within {deadline:g} seconds."))
