"""Access tokens in place of API keys: an OAuth 2.1 resource server (RFC 6750, RFC 8707, RFC 9068, RFC 9728)."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from attrs import frozen

from ...domain.accounts import subject_digest
from ...domain.errors import InsufficientScope, InvalidToken, NoAccess
from ...domain.keys import MAX_LABEL, ApiKey
from ...domain.publishing import SubjectPublisher
from ...feature.server import SERVICES, Server
from ...http import Request
from ...issuers import Issuer, VerifiedToken, claimed_issuer, issuer_of
from ...runtime.timers import Timer
from ...tables import StoredKeyRing
from ...texts.sanitize import clean_line
from ...web.authentication import ACCESS_TOKENS
from ...web.error_responses import REALM
from ...web.health import ISSUERS
from ...web.mcp import PATH as MCP
from .rules import texts_of
from .settings import IssuerConfig, SignInConfig, publish_rule

METADATA = "/.well-known/oauth-protected-resource"
"""The path of the metadata (RFC 9728, section 3); that of a resource with a path follows it."""

RESOURCES = ("", MCP.decode())
"""Paths of the resources: the whole directory, and its MCP endpoint."""

APPLIED = 3_600.0
"""Seconds between two times that the setting `renew` is applied to earlier sign-ins, first at the start."""

_TOKEN = re.compile(r"ey[\w-]+\.[\w-]+\.[\w-]+", re.ASCII)

_KINDS = ("", "jwt", "at+jwt")
"""Types of access tokens (RFC 9068, section 4). Other types have other purposes."""


def metadata_url(base_url: str, path: str) -> str:
    """Return the URL of the metadata of the resource that `path` belongs to."""
    return base_url + METADATA + (RESOURCES[1] if path == RESOURCES[1] else "")


def metadata(base_url: str, path: str, issuers: Collection[IssuerConfig]) -> Mapping[str, Any]:
    """Return the metadata of the resource at `path` (RFC 9728, section 2)."""
    return {
        "resource": base_url + path,
        "resource_name": "MCP directory",
        "authorization_servers": [issuer.url for issuer in issuers],
        "scopes_supported": sorted(
            {issuer.read_scope for issuer in issuers if issuer.read_scope}
            | {issuer.write_scope for issuer in issuers if issuer.publish}
        ),
        "bearer_methods_supported": ["header"],
    }


@frozen
class TokenIssuer:
    """An issuer of access tokens: the audiences that they must have, the label of their keys, and its settings."""

    issuer: Issuer
    audiences: Collection[str]
    label: str
    settings: IssuerConfig

    async def verify(self, token: str, scope: str) -> VerifiedToken:
        """Return a valid access token with `scope`. Raises InvalidToken, InsufficientScope, Unavailable."""
        verified = await self.issuer.verify(token, self.audiences)
        if verified.kind not in _KINDS:
            raise InvalidToken("The token is not an access token (typ).")
        if "cnf" in verified.claims:
            # RFC 7800: only the holder of a key may use it, which this server does not check.
            raise InvalidToken("Access tokens that are bound to a key (cnf) are not supported.")
        if scope and scope not in _scopes(verified.claims):
            raise InsufficientScope(scope)
        return verified

    def namespaces_of(self, claims: Mapping[str, Any]) -> tuple[str, ...]:
        """Return patterns of the names that the subject of a token with `claims` may publish."""
        rules = [publish_rule(rule) for rule in self.settings.publish]
        return tuple(pattern for name, value, pattern in rules if value in texts_of(claims, name))


@frozen
class SubjectTokens:
    """Access tokens of `_issuers`, by their URLs. A subject has `_limit` requests per 60 minutes, as a new key has."""

    _issuers: Mapping[str, TokenIssuer]
    _keys: StoredKeyRing
    _limit: int | None
    _base_url: str

    @property
    def issuers(self) -> Sequence[Issuer]:
        return [keys.issuer for keys in self._issuers.values()]

    async def find(self, token: str) -> ApiKey | None:
        issuer = self._issuer_of(token)
        return (
            None if issuer is None else await self._key(issuer, await issuer.verify(token, issuer.settings.read_scope))
        )

    async def publisher(self, token: str) -> SubjectPublisher | None:
        issuer = self._issuer_of(token)
        if issuer is None:
            return None
        verified = await issuer.verify(token, issuer.settings.write_scope)
        key = await self._key(issuer, verified)
        label = clean_line(f"{issuer.label}: {verified.subject}", MAX_LABEL)
        namespaces = issuer.namespaces_of(verified.claims)
        return SubjectPublisher(key.id, label, namespaces, float(verified.claims["exp"]))

    def _issuer_of(self, token: str) -> TokenIssuer | None:
        """Return the issuer that a token names, None if `token` does not look like one. Raises InvalidToken."""
        if not _TOKEN.fullmatch(token):
            return None
        issuer = self._issuers.get(claimed_issuer(token))
        if issuer is None:
            raise InvalidToken(f"The issuer of the token must be {' or '.join(self._issuers)}.")
        return issuer

    async def _key(self, issuer: TokenIssuer, verified: VerifiedToken) -> ApiKey:
        """Return the key of the subject of a token. Raises InvalidToken if it is blocked."""
        subject = subject_digest(issuer.issuer.url, verified.subject)
        key = await self._keys.of_subject(subject, issuer.label, limit=self._limit)
        if key is None:
            raise InvalidToken("The subject of the token is blocked in this directory.")
        return key

    def challenge(self, request: Request, error: NoAccess, *, publishes: bool = False) -> str:
        # The resource of a list is a part of the directory.
        path = "" if request.list_name else request.path.decode("latin-1")
        parameters = {"resource_metadata": metadata_url(self._base_url, path)}
        settings = [issuer.settings for issuer in self._issuers.values()]
        if publishes:
            scopes = {issuer.write_scope for issuer in settings if issuer.publish}
        else:
            scopes = {issuer.read_scope for issuer in settings if issuer.read_scope}
        if isinstance(error, InsufficientScope):
            scopes = {error.scope}
        if scopes:
            parameters["scope"] = " ".join(sorted(scopes))
        if isinstance(error, InvalidToken | InsufficientScope):
            # RFC 6750, section 3.1.
            parameters["error"] = error.code
        return ", ".join([REALM, *(f'{name}="{value}"' for name, value in parameters.items())])


def run(server: Server) -> None:
    """Add the access tokens of the issuers in the settings, and apply the settings to earlier sign-ins."""
    settings = server.config.of(SignInConfig)
    renewals = {issuer.url: issuer.renew or None for issuer in settings.sign_in_issuers}
    base_url = server.config.web.url.rstrip("/")
    own = {base_url + "/", *(base_url + path for path in RESOURCES)}
    issuers = {
        issuer.url: TokenIssuer(
            issuer_of(issuer.url, server.reactor, server.offload, server.now, server.trace),
            frozenset(own | {*issuer.audiences}),
            f"Access tokens: {issuer.title or issuer.name}",
            issuer,
        )
        for issuer in settings.token_issuers
    }
    server.add(
        SERVICES, Timer(APPLIED, lambda: server.storage.people.identities.apply_renewals(renewals), server.reactor)
    )
    if issuers:
        tokens = SubjectTokens(issuers, server.storage.people.keys, server.config.quota.limit, base_url)
        server.set(ACCESS_TOKENS, tokens)
        server.add(ISSUERS, *tokens.issuers)


def _scopes(claims: Mapping[str, Any]) -> Collection[str]:
    """Return the scopes of a token: `scope` (RFC 9068, section 2.2.3), or `scp` of Entra ID and Okta."""
    found: set[str] = set()
    for name in ("scope", "scp"):
        value = claims.get(name)
        found |= {*value.split(" ")} if isinstance(value, str) else set()
        found |= {scope for scope in value if isinstance(scope, str)} if isinstance(value, list) else set()
    return found
