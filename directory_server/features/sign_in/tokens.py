"""Access tokens in place of API keys: an OAuth 2.1 resource server (RFC 6750, RFC 8707, RFC 9068, RFC 9728)."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from attrs import frozen

from ...domain.errors import InsufficientScope, InvalidToken, NoAccess
from ...domain.identities import subject_digest
from ...domain.keys import ApiKey
from ...domain.ports.access import KeyRing
from ...feature import Host, Running
from ...http import Request
from ...issuers import Issuer, VerifiedToken, claimed_issuer, issuer_of
from ...web.error_responses import REALM
from ...web.mcp import PATH as MCP
from .settings import IssuerConfig, SignInConfig

METADATA = "/.well-known/oauth-protected-resource"
"""The path of the metadata (RFC 9728, section 3); that of a resource with a path follows it."""

RESOURCES = ("", MCP.decode())
"""Paths of the resources: the whole directory, and its MCP endpoint."""

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
        "scopes_supported": sorted({issuer.read_scope for issuer in issuers if issuer.read_scope}),
        "bearer_methods_supported": ["header"],
    }


@frozen
class TokenIssuer:
    """An issuer of access tokens: the audiences and the scope that they must have, and the label of their keys."""

    issuer: Issuer
    audiences: Collection[str]
    scope: str
    label: str

    async def verify(self, token: str) -> VerifiedToken:
        """Return a valid access token. Raises InvalidToken, InsufficientScope, Unavailable."""
        verified = await self.issuer.verify(token, self.audiences)
        if verified.kind not in _KINDS:
            raise InvalidToken("The token is not an access token (typ).")
        if "cnf" in verified.claims:
            # RFC 7800: only the holder of a key may use it, which this server does not check.
            raise InvalidToken("Access tokens that are bound to a key (cnf) are not supported.")
        if self.scope and self.scope not in _scopes(verified.claims):
            raise InsufficientScope(self.scope)
        return verified


@frozen
class SubjectTokens:
    """Access tokens of `_issuers`, by their URLs. A subject has `_limit` requests per 60 minutes, as a new key has."""

    _issuers: Mapping[str, TokenIssuer]
    _keys: KeyRing
    _limit: int | None
    _base_url: str

    @property
    def issuers(self) -> Sequence[Issuer]:
        return [each.issuer for each in self._issuers.values()]

    async def find(self, token: str) -> ApiKey | None:
        if not _TOKEN.fullmatch(token):
            return None
        issuer = self._issuers.get(claimed_issuer(token))
        if issuer is None:
            raise InvalidToken(f"The issuer of the token must be {' or '.join(self._issuers)}.")
        verified = await issuer.verify(token)
        subject = subject_digest(issuer.issuer.url, verified.subject)
        key = await self._keys.of_subject(subject, issuer.label, limit=self._limit)
        if key is None:
            raise InvalidToken("The subject of the token is blocked in this directory.")
        return key

    def challenge(self, request: Request, error: NoAccess) -> str:
        # The resource of a list is a part of the directory.
        path = "" if request.list_name else request.path.decode("latin-1")
        parameters = {"resource_metadata": metadata_url(self._base_url, path)}
        scopes = {issuer.scope for issuer in self._issuers.values() if issuer.scope}
        if isinstance(error, InsufficientScope):
            scopes = {error.scope}
        if scopes:
            parameters["scope"] = " ".join(sorted(scopes))
        if isinstance(error, InvalidToken | InsufficientScope):
            # RFC 6750, section 3.1.
            parameters["error"] = error.code
        return ", ".join([REALM, *(f'{name}="{value}"' for name, value in parameters.items())])


def running(host: Host) -> Running:
    """Return the access tokens of the issuers in the settings."""
    base_url = host.config.web.url.rstrip("/")
    own = {base_url + "/", *(base_url + path for path in RESOURCES)}
    issuers = {
        issuer.url: TokenIssuer(
            issuer_of(issuer.url, host.reactor, host.offload, host.now),
            frozenset(own | {*issuer.audiences}),
            issuer.read_scope,
            f"Access tokens: {issuer.title or issuer.name}",
        )
        for issuer in host.config.of(SignInConfig).token_issuers
    }
    return Running(access_tokens=SubjectTokens(issuers, host.storage.keys, host.config.quota.limit, base_url))


def _scopes(claims: Mapping[str, Any]) -> Collection[str]:
    """Return the scopes of a token: `scope` (RFC 9068, section 2.2.3), or `scp` of Entra ID and Okta."""
    found: set[str] = set()
    for name in ("scope", "scp"):
        value = claims.get(name)
        found |= {*value.split(" ")} if isinstance(value, str) else set()
        found |= {each for each in value if isinstance(each, str)} if isinstance(value, list) else set()
    return found
