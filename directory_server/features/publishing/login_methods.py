"""The logins: tokens of issuers for builds, and proofs of a domain. A server without them does not import this."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import Any

from attrs import define, field, frozen
from twisted.internet.defer import Deferred, TimeoutError
from twisted.internet.error import BindError, ConnectError, ConnectionClosed
from twisted.logger import Logger
from twisted.names.dns import TXT
from twisted.names.error import ResolverError

from ...domain.errors import InvalidToken, Unavailable
from ...domain.namespaces import ProofKind
from ...feature.server import Server
from ...http_client import (
    BadResponse,
    CertificatePolicy,
    CheckedAgent,
    CheckedNetwork,
    DocumentClient,
    networks,
)
from ...issuers import MAX_TOKEN, Documents, Issuer, issuer_of, required_values
from ...runtime.threads import OwnThreads
from .documents import login_token
from .domain_proofs import check_time, domain_proof, public_keys, signing_key
from .logins import AllowedLogin
from .settings import GITHUB_EVENTS, PublishConfig
from .tokens import ANY, Proven

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


MAX_DOMAINS, MAX_PER_CLIENT = 50, 5
"""Domains that are asked for their keys at a time, of all clients and of one."""

_OWNER = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,98}[A-Za-z0-9])?")
"""A name at GitHub, as far as it is a label of a namespace."""

NETWORK = "publishing.network"
"""The name of a LoginNetwork in `Server.replaced`."""

_log = Logger()


Claims = Mapping[str, Any]


@frozen
class IssuerLogin:
    """A login with a token of an issuer for one of `audiences`. `namespaces_of` returns what its claims may publish."""

    _kind: ProofKind
    _issuer: Issuer
    _audiences: Sequence[str]
    _namespaces_of: Callable[[Claims], Sequence[str]]

    async def prove(self, body: Any, client: str) -> Proven:
        token = await self._issuer.verify(login_token(body, "oidc_token", MAX_TOKEN), self._audiences)
        return Proven(self._kind, token.subject, tuple(self._namespaces_of(token.claims)))


def namespaces_of_owner(claims: Claims) -> Sequence[str]:
    """Return the namespace of the owner of the repository in a token of GitHub Actions. Raises InvalidToken."""
    owner = claims.get("repository_owner")
    if not isinstance(owner, str) or not _OWNER.fullmatch(owner):
        raise InvalidToken("The token has no repository_owner.")
    return [f"io.github.{owner}/*"]


@frozen
class RequiredClaims:
    """Requires that each claim has one of its accepted values, as a text, then returns what `namespaces_of` does.

    Raises InvalidToken for other claims.
    """

    required: Mapping[str, Collection[str]]
    namespaces_of: Callable[[Claims], Sequence[str]]

    def __call__(self, claims: Claims) -> Sequence[str]:
        for name, accepted in self.required.items():
            value = claims.get(name)
            text = str(value).lower() if isinstance(value, bool) else str(value)
            if not isinstance(value, str | int | float) or text not in accepted:
                raise InvalidToken(f"The claim {name} of the token has no value that this server accepts.")
        return self.namespaces_of(claims)


@define
class DomainLogin:
    """A login with a timestamp that a key of a domain has signed. The DNS of a domain stands for its subdomains too."""

    _kind: ProofKind
    _texts: DomainTexts
    _now: Callable[[], float]
    _asking: Counter[str] = field(factory=Counter, init=False)
    """The number of requests that wait for a domain, by client."""

    async def prove(self, body: Any, client: str) -> Proven:
        proof = domain_proof(body)
        check_time(proof, self._now())
        if self._asking.total() >= MAX_DOMAINS or self._asking[client] >= MAX_PER_CLIENT:
            raise Unavailable("Too many domains are asked for their keys at the moment. Try again in a few seconds.")
        self._asking[client] += 1
        try:
            keys = public_keys(await self._texts(proof.domain))
        finally:
            self._asking -= Counter([client])
        use = signing_key(proof, keys).use_of(proof)
        below = (f"{proof.namespace}.*/*",) if self._kind == "dns" else ()
        return Proven(self._kind, proof.domain, (f"{proof.namespace}/*", *below), use)


@frozen
class LoginNetwork:
    """The network side of logins: documents of issuers, and the texts of domains in their DNS and web servers."""

    documents: Documents
    records: DomainTexts
    files: DomainTexts


def allowed_logins(server: Server) -> Mapping[str, AllowedLogin]:
    """Return the logins that are configured, by their method. A login that lacks its audience is off, and logged."""
    settings = server.config.of(PublishConfig)
    replaced: LoginNetwork | None = server.replaced.get(NETWORK)
    logins: dict[str, AllowedLogin] = {}
    github, oidc = settings.github_namespaces, settings.oidc_issuer and settings.oidc_namespaces
    if github and (audiences := _audiences(server, "github", settings.github_audience)):
        issuer = _issuer(server, settings.github_issuer, replaced)
        required = {"event_name": GITHUB_EVENTS, **required_values(settings.github_claims)}
        login = IssuerLogin("github-oidc", issuer, audiences, RequiredClaims(required, namespaces_of_owner))
        logins["github-oidc"] = AllowedLogin(login.prove, github, issuer)
    if oidc and (audiences := _audiences(server, "oidc", settings.oidc_audience)):
        claims = RequiredClaims(required_values(settings.oidc_claims), lambda _: oidc)
        issuer = _issuer(server, settings.oidc_issuer, replaced)
        logins["oidc"] = AllowedLogin(IssuerLogin("oidc", issuer, audiences, claims).prove, [ANY], issuer)
    if settings.dns_namespaces:
        records = replaced.records if replaced else text_records(server.reactor)
        logins["dns"] = AllowedLogin(DomainLogin("dns", records, server.now).prove, settings.dns_namespaces)
    if settings.http_namespaces:
        files = replaced.files if replaced else well_known_file(server.reactor, settings.http_networks)
        logins["http"] = AllowedLogin(DomainLogin("http", files, server.now).prove, settings.http_namespaces)
    return logins


def _audiences(server: Server, name: str, audience: str) -> Sequence[str]:
    """Return the accepted audiences: `audience`, else the URL of this server, which publishers may end with a slash."""
    if audience:
        return [audience]
    if not server.config.web.url:
        _log.warn("The login {name} is off: set web.url or publish.{name}_audience.", name=name)
        return []
    url = server.config.web.url.rstrip("/")
    return [url, f"{url}/"]


def _issuer(server: Server, url: str, replaced: LoginNetwork | None) -> Issuer:
    if replaced:
        return Issuer(url, replaced.documents, server.offload, server.reactor, server.now)
    return issuer_of(url, server.reactor, server.offload, server.now, server.trace)
