"""Checks of clients: their requests are sent as they send them, and each response is judged as they would."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any
from urllib.parse import quote, urlsplit

from attrs import evolve, field, frozen
from twisted.internet.defer import Deferred, gatherResults
from twisted.web.client import Agent
from twisted.web.http_headers import Headers
from twisted.web.iweb import IResponse

from ... import serialization
from ...domain.errors import BadInput
from ...http import Request
from ...http.headers import values
from ...http.proxies import Proxies
from ...http_client import (
    BadResponse,
    BoundedAgent,
    CertificatePolicy,
    HeadBoundedPool,
    RequestBody,
    drop,
    exchanged,
    header,
    read_body,
)
from .clients import CLIENTS, NAME, ClientRecord, Probe, Seen, streams
from .findings import MAX_SHOWN, Answer, Finding, note, problem, status_finding

MAX_BYTES, DEADLINE, CONNECT = 4_000_000, 10.0, 5.0
"""Bytes of a response, and seconds of a request and of a connection attempt."""

MANAGED = "/api/open/v1/managed-settings/copilot.json"
"""The path of the managed settings of VS Code, Copilot CLI and JetBrains."""

Send = Callable[[str, str, Mapping[str, str], bytes], Awaitable[Answer]]
"""Sends a request: method, URL, headers and body. Raises BadResponse."""


@frozen
class Result:
    """What a client would see: the number of servers, None if it lists none, and whether there are more."""

    client: ClientRecord
    servers: int | None
    more: bool
    findings: Sequence[Finding]

    @property
    def works(self) -> bool:
        """Whether there is no problem."""
        return not any(finding.level == "problem" for finding in self.findings)


@frozen
class Checks:
    """Checks of all clients. `url` is the public URL, `registry` that of the registry API, both without a slash.

    `key` is an API key for the clients that can send one; empty for none.
    """

    send: Send
    url: str
    registry: str
    key: str = field(default="", repr=False)

    async def results(self) -> Sequence[Result]:
        """Return the results of all clients, which are checked at once."""
        managed = await self._managed()
        results: Sequence[Result] = await gatherResults(
            [Deferred.fromCoroutine(self._result(client, managed)) for client in CLIENTS], consumeErrors=True
        )
        return results

    async def _managed(self) -> Finding:
        """Return the finding that says whether managed settings are in force."""
        headers = {"Authorization": f"Bearer {self.key}"} if self.key else {}
        try:
            answer = await self.send("GET", self.url + MANAGED, headers, b"")
            rules = serialization.decode(answer.body)["allowedMcpServers"] if answer.status == 200 else None
        except (BadResponse, BadInput, KeyError, TypeError):
            return note("no_managed")
        if answer.status not in (200, 401):
            return note("no_managed")
        return note("managed", detail="" if rules is None else f": {len(rules):,} allowed rules")

    async def _result(self, client: ClientRecord, managed: Finding) -> Result:
        findings: list[Finding] = []
        names: tuple[str, ...] = ()
        servers, more = None, False
        for probe in client.probes:
            path = probe.path.replace(NAME, quote(names[0], safe="")) if names else probe.path
            # A client that sees no server asks for none.
            if NAME in path:
                continue
            seen = await self._seen(client, probe, path, findings)
            # The next requests fail likewise.
            if any(finding.code in ("failed", "certificate", "dead") for finding in findings):
                break
            if seen is None or not probe.lists:
                continue
            if seen.left_out:
                findings.append(note("left_out", path, seen.left_out))
            if client.compares and seen.unpinned:
                findings.append(note("unpinned", path, seen.unpinned))
            names = names or seen.names
            if len(seen.names) >= (servers or 0):
                servers, more = len(seen.names), seen.more
        is_needed = any(probe.lists and not probe.optional for probe in client.probes)
        if servers == 0 and is_needed and not any(finding.level == "problem" for finding in findings):
            findings.append(problem("empty"))
        parts = urlsplit(self.url)
        if parts.scheme == "http" and (parts.hostname or "") not in ("localhost", "127.0.0.1", "::1"):
            findings.append(problem("plain"))
        if client.reads_managed:
            findings.append(managed)
        # One request shows what is wrong with the others.
        first = {(finding.code, finding.level): finding for finding in reversed(findings)}
        return Result(client, servers, more, [*reversed(first.values())])

    async def _seen(self, client: ClientRecord, probe: Probe, path: str, findings: list[Finding]) -> Seen | None:
        """Return what the client reads in the response to a request; None, with a finding, if it can read nothing."""
        base = self.registry if probe.base == "registry" else self.url
        headers = {**probe.headers, **({"Origin": client.origin} if client.origin else {})}
        has_key = client.key and bool(self.key)
        if has_key:
            headers["Authorization"] = f"Bearer {self.key}"
        try:
            answer = await self.send(probe.method, base + path, headers, probe.body)
        except BadResponse as error:
            code = "certificate" if "not trusted" in error.message else "failed"
            if streams(probe.headers):
                code = "cut" if isinstance(error, EndedStream) else "buffered"
            findings.append(problem(code, path, error.message))
            return None
        wrong = status_finding(answer, path, len(probe.body), sends_keys=client.key, has_key=has_key)
        if wrong is not None:
            is_expected = probe.optional and wrong.code in ("absent", *(("login", "redirect") if probe.quiet else ()))
            if not (is_expected and probe.quiet):
                findings.append(evolve(wrong, level="note") if is_expected else wrong)
            return None
        origins = answer.headers.get("access-control-allow-origin", "")
        if client.origin and origins not in ("*", client.origin):
            findings.append(problem("cors_twice" if "," in origins else "cors", path))
        try:
            value = serialization.decode(_message(answer)) if not streams(probe.headers) else {}
            seen = probe.reads(value)
        except (BadInput, KeyError, TypeError, AttributeError, ValueError):
            findings.append(problem("json", path))
            return None
        if path.startswith("/.well-known/") and (foreign := _foreign_url(value, self.url)):
            findings.append(problem("url", path, foreign))
        return seen


def _message(answer: Answer) -> bytes:
    """Return the JSON of a response, which a stream of the MCP endpoint has in an event."""
    if answer.headers.get("content-type", "").startswith("text/event-stream"):
        lines = re.findall(rb"^data: ?(.*)$", answer.body, re.MULTILINE)
        return next((line for line in lines if line.strip()), b"")
    return answer.body


def _foreign_url(manifest: Any, url: str) -> str:
    """Return the origin of the first URL in a manifest of this server that is another one than its own; else empty."""
    entries = manifest.get("entries")
    for entry in entries if isinstance(entries, list) else ():
        given = entry.get("url") if isinstance(entry, dict) else None
        if isinstance(given, str) and not given.startswith(f"{url}/"):
            parts = urlsplit(given)
            return f"{parts.scheme}://{parts.netloc}"
    return ""


def proxy_finding(request: Request, proxies: Proxies) -> Finding | None:
    """Return what a request to the public URL, an https one, shows of the proxy; None if nothing is wrong."""
    if request.isSecure():
        return None
    peer = str(getattr(request.client, "host", "unix"))
    if not proxies.trusts_peer(request.client):
        return problem("untrusted", detail=peer)
    if not values(request, "X-Forwarded-For"):
        return problem("no_address")
    return None if proxies.is_secure(request) else problem("no_proto")


class EndedStream(BadResponse):
    """A stream of events ended early."""


def sender(reactor: Any, hold: float = 0.0) -> Send:
    """Return what sends requests on `reactor`, without following redirects. A stream is kept open for `hold` seconds.

    Of a stream, only the first piece is read. Raises EndedStream if it ends within `hold`.
    """
    pool = HeadBoundedPool(reactor, persistent=False)
    agent = BoundedAgent(Agent(reactor, CertificatePolicy(), connectTimeout=CONNECT, pool=pool), MAX_BYTES)

    async def first_piece(response: IResponse) -> bytes:
        first: Deferred[bytes] = Deferred()

        def pass_on(piece: object) -> None:
            if not first.called:
                first.callback(piece if isinstance(piece, bytes) else b"")

        ended = Deferred.fromCoroutine(read_body(response, pass_on)).addBoth(pass_on)
        try:
            piece, begun = await first, reactor.seconds()
            if piece and hold:
                await ended.addTimeout(hold, reactor)
            if not piece or reactor.seconds() - begun < hold:
                raise EndedStream(f"The stream ended after {reactor.seconds() - begun:.0f} seconds.")
            return piece
        finally:
            ended.cancel()

    async def fetch(method: str, url: str, headers: Mapping[str, str], body: bytes) -> Answer:
        fields = Headers({name: [value] for name, value in headers.items()})
        producer = RequestBody(body) if body else None
        try:
            response = await agent.request(method.encode(), url.encode("ascii"), fields, producer)
        except ValueError:
            raise BadResponse("Its URL is invalid.") from None
        names = ("access-control-allow-origin", "content-type", "location", "x-request-id")
        given = {name: value for name in names if (value := header(response, name.encode()))}
        origins = response.headers.getRawHeaders("access-control-allow-origin", [])
        if len(origins) > 1:
            given["access-control-allow-origin"] = ", ".join(origins)[:MAX_SHOWN]
        received = bytearray()
        if not given.get("content-type", "").startswith("text/event-stream"):
            await read_body(response, received.extend)
        elif response.code // 100 != 2:
            drop(response)
        elif streams(headers):
            received += await first_piece(response)
        else:
            await read_body(response, received.extend)
        return Answer(response.code, given, bytes(received))

    async def send(method: str, url: str, headers: Mapping[str, str], body: bytes) -> Answer:
        deadline = DEADLINE + (hold if streams(headers) else 0.0)
        return await exchanged(fetch(method, url, headers, body), deadline, reactor)

    return send
