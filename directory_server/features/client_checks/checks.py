"""Checks of clients: their requests are sent as they send them, and each response is judged as they would."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Literal
from urllib.parse import quote, urlsplit

from attrs import field, frozen
from twisted.web.client import Agent
from twisted.web.http_headers import Headers

from ... import serialization
from ...domain.errors import BadInput
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
from .clients import CLIENTS, NAME, ClientRecord, Probe, Seen

MAX_BYTES, DEADLINE, CONNECT = 4_000_000, 10.0, 5.0
"""Bytes of a response, and seconds of a request and of a connection attempt."""

MAX_SHOWN = 200
"""Characters of a text of a response in a finding."""

MANAGED = "/api/open/v1/managed-settings/copilot.json"
"""The path of the managed settings of VS Code, Copilot CLI and JetBrains."""

Level = Literal["problem", "note"]

MESSAGES: Mapping[str, str] = {
    "failed": "{path}: {detail} Check the name, the port and the certificate of the proxy.",
    "plain": "The URL has no TLS. Clients send keys and read installations unprotected; set up TLS at the proxy.",
    "redirect": "{path} redirects to {detail}. Not all clients follow it; give them the target as the URL.",
    "login": "{path} asks for credentials, and the client sends none. Set registry.access to public, or to secret-path "
    "and give the client a secret path.",
    "key": "{path} asks for credentials. Give the client an API key.",
    "host": "{path}: the server rejects this host. Add it to http.allowed_hosts.",
    "limit": "{path} answered 429: this address has sent too many requests. Try again in a minute.",
    "absent": "{path} does not exist. The feature is off (registry.access, ard.access or publishing), or the proxy "
    "does not pass this path on.",
    "status": "{path} answered {detail}.",
    "json": "{path} answered with something else than the JSON of the API, such as the sign-in page of a proxy.",
    "cors": "{path} has no Access-Control-Allow-Origin: the proxy removes or replaces it, so pages cannot read it.",
    "empty": "The client sees no server. With registry.listed = curated, allow or pin entries first.",
    "left_out": "Servers of the first page that this client leaves out, without description or version: {detail}.",
    "unpinned": "Servers of the first page that have a package without an exact version: {detail}. With the policy "
    "registry-only, Copilot may block them.",
    "url": "URLs in {path} begin with {detail}, not with the public URL. Set web.url, and pass X-Forwarded-Proto on.",
    "no_managed": "No managed settings are served: managed_settings.enabled is false, or no entry is curated.",
    "managed": "Managed settings are served to clients with a key{detail}. Servers with a warning there are blocked.",
}
"""Messages of findings by code."""


@frozen
class Finding:
    """What is wrong for a client, or good to know, and what to change."""

    code: str
    level: Level
    message: str


@frozen
class Answer:
    """A response: its status, headers by their names in lower case, and its body."""

    status: int
    headers: Mapping[str, str]
    body: bytes


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
        """Return the results of all clients."""
        managed = await self._managed()
        return [await self._result(client, managed) for client in CLIENTS]

    async def _managed(self) -> Finding:
        """Return the finding that says whether managed settings are in force."""
        headers = {"Authorization": f"Bearer {self.key}"} if self.key else {}
        try:
            answer = await self.send("GET", self.url + MANAGED, headers, b"")
            rules = serialization.decode(answer.body)["allowedMcpServers"] if answer.status == 200 else None
        except (BadResponse, BadInput, KeyError, TypeError):
            return _finding("no_managed", "note")
        if answer.status not in (200, 401):
            return _finding("no_managed", "note")
        return _finding("managed", "note", detail="" if rules is None else f": {len(rules):,} allowed rules")

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
            if any(finding.code == "failed" for finding in findings):
                break
            if seen is None or not probe.lists:
                continue
            if seen.left_out:
                findings.append(_finding("left_out", "note", path, str(seen.left_out)))
            if client.compares and seen.unpinned:
                findings.append(_finding("unpinned", "note", path, str(seen.unpinned)))
            names = names or seen.names
            if len(seen.names) >= (servers or 0):
                servers, more = len(seen.names), seen.more
        is_needed = any(probe.lists and not probe.optional for probe in client.probes)
        if servers == 0 and is_needed and not any(finding.level == "problem" for finding in findings):
            findings.append(_finding("empty", "problem"))
        parts = urlsplit(self.url)
        if parts.scheme == "http" and not _is_local(parts.hostname or ""):
            findings.append(_finding("plain", "problem"))
        if client.reads_managed:
            findings.append(managed)
        return Result(client, servers, more, [*dict.fromkeys(findings)])

    async def _seen(self, client: ClientRecord, probe: Probe, path: str, findings: list[Finding]) -> Seen | None:
        """Return what the client reads in the response to a request; None, with a finding, if it can read nothing."""
        base = self.registry if probe.base == "registry" else self.url
        headers = {**probe.headers, **({"Origin": client.origin} if client.origin else {})}
        if client.key and self.key:
            headers["Authorization"] = f"Bearer {self.key}"
        try:
            answer = await self.send(probe.method, base + path, headers, probe.body)
        except BadResponse as error:
            findings.append(_finding("failed", "problem", path, error.message))
            return None
        if (code := _status_code(answer, client)) is not None:
            level: Level = "note" if probe.optional and code == "absent" else "problem"
            findings.append(_finding(code, level, path, answer.headers.get("location", str(answer.status))))
            return None
        if client.origin and answer.headers.get("access-control-allow-origin") not in ("*", client.origin):
            findings.append(_finding("cors", "problem", path))
        try:
            value = serialization.decode(_message(answer))
            seen = probe.reads(value)
        except (BadInput, KeyError, TypeError, AttributeError, ValueError):
            findings.append(_finding("json", "problem", path))
            return None
        if path.startswith("/.well-known/") and (foreign := _foreign_url(value, self.url)):
            findings.append(_finding("url", "problem", path, foreign))
        return seen


def _status_code(answer: Answer, client: ClientRecord) -> str | None:
    """Return the code of the finding of a status; None for a success."""
    if answer.status // 100 == 2:
        return None
    if answer.status // 100 == 3:
        return "redirect"
    if answer.status == 403 and b"forbidden_host" in answer.body:
        return "host"
    codes = {401: "key" if client.key else "login", 404: "absent", 405: "absent", 429: "limit"}
    return codes.get(answer.status, "status")


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


def _is_local(host: str) -> bool:
    return host in ("localhost", "127.0.0.1", "::1")


def _finding(code: str, level: Level, path: str = "", detail: str = "") -> Finding:
    return Finding(code, level, MESSAGES[code].format(path=path[:MAX_SHOWN], detail=detail[:MAX_SHOWN]))


def sender(reactor: Any) -> Send:
    """Return what sends requests on `reactor`, without following redirects."""
    pool = HeadBoundedPool(reactor, persistent=False)
    agent = BoundedAgent(Agent(reactor, CertificatePolicy(), connectTimeout=CONNECT, pool=pool), MAX_BYTES)

    async def fetch(method: str, url: str, headers: Mapping[str, str], body: bytes) -> Answer:
        fields = Headers({name: [value] for name, value in headers.items()})
        producer = RequestBody(body) if body else None
        try:
            response = await agent.request(method.encode(), url.encode("ascii"), fields, producer)
        except ValueError:
            raise BadResponse("Its URL is invalid.") from None
        names = ("access-control-allow-origin", "content-type", "location")
        given = {name: value for name in names if (value := header(response, name.encode()))}
        received = bytearray()
        if given.get("content-type", "").startswith("text/event-stream") and response.code // 100 != 2:
            drop(response)
        else:
            await read_body(response, received.extend)
        return Answer(response.code, given, bytes(received))

    async def send(method: str, url: str, headers: Mapping[str, str], body: bytes) -> Answer:
        return await exchanged(fetch(method, url, headers, body), DEADLINE, reactor)

    return send
