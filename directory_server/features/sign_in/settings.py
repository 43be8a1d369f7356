"""Settings of issuers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from attrs import frozen

from ...config import AtLeast, Config, ConfigError, Seconds, each_matches, issuer_url, line, setting
from ...domain.patterns import is_pattern

READ_SCOPE, WRITE_SCOPE = "mcp-registry:read", "mcp-registry:write"
"""The scopes of requests that read and that publish, as the authorization document of the official registry names them.
"""

MAX_RULES = 200
"""Rules that give namespaces to claims."""


def _name(_: object, __: object, name: str) -> None:
    """Validate the name of an issuer, which is a part of paths."""
    if name and not (name.isascii() and name.replace("-", "").isalnum() and name == name.lower() and len(name) <= 40):
        raise ValueError("must be 1 to 40 of a-z, 0-9 and '-'")


def publish_rule(text: str) -> tuple[str, str, str]:
    """Return the name and the value of a claim, and the pattern of names that it may publish. Raises ValueError."""
    claim, _, pattern = text.rpartition(" ")
    name, _, value = claim.partition("=")
    if not (name and value and is_pattern(pattern)):
        raise ValueError(f"must be claims with a namespace, such as 'groups=publishers io.acme/*', not {text[:100]!r}")
    return name, value, pattern


def _publish_rules(_: object, __: object, rules: tuple[str, ...]) -> None:
    """Validate the claims that publish."""
    if len(rules) > MAX_RULES:
        raise ValueError(f"must be at most {MAX_RULES}")
    for rule in rules:
        publish_rule(rule)


def _complete(_: object, __: object, issuers: tuple[Any, ...]) -> None:
    """Validate that each issuer has a URL and a name of its own, and a purpose."""
    for values in ([issuer.name for issuer in issuers], [issuer.url for issuer in issuers]):
        if not all(values) or len(set(values)) < len(values):
            raise ValueError("must each have a name and a url that no other has")
    for issuer in issuers:
        if not issuer.client_id and not issuer.tokens:
            raise ValueError("must each have a client_id for sign-in, or tokens = true")
        if issuer.publish and not issuer.tokens:
            raise ValueError("must have tokens = true with publish")
        if issuer.kind == "github" and issuer.tokens:
            raise ValueError("must not have tokens = true with kind = github: its tokens are not for other servers")


@frozen
class IssuerConfig:
    """An issuer: a server of OpenID Connect, or GitHub. People sign in with it, or clients send its access tokens."""

    name: str = setting("", "Name in the paths of the directory, such as keycloak.", _name)
    title: str = setting("", "Name on the button; if empty: the name.", line(40))
    url: str = setting("", "URL as in the discovery document; https://github.com for GitHub.", issuer_url)
    kind: Literal["oidc", "github"] = setting("oidc", "OpenID Connect, or GitHub's OAuth API.")
    client_id: str = setting("", "Id of the directory at the issuer; if empty: no sign-in.", line(500))
    client_secret_file: str = setting("", "File with the secret of the directory; if empty: PKCE only.")
    scopes: tuple[str, ...] = setting(
        ("openid", "email", "profile"),
        "Scopes of a sign-in.",
        each_matches(r"[!#-\[\]-~]+", "scopes such as openid and email"),
    )
    trust_email: bool = setting(False, "Whether addresses without email_verified count as verified.")
    domains: tuple[str, ...] = setting(
        (), "Domains of e-mail addresses that may sign in; if empty: all.", each_matches(r"[^\s@,]+", "domains")
    )
    require: tuple[str, ...] = setting(
        (),
        "Claims of people who may sign in, such as groups=mcp-users; one value of a claim is enough.",
        each_matches(r"[^=\s]+=[^\0]+", "claims such as groups=mcp-users"),
    )
    groups: str = setting("groups", "Claim with a person's groups, such as realm_access.roles.")
    operators: tuple[str, ...] = setting((), "Groups whose members are operators.")
    auditors: tuple[str, ...] = setting(
        (), "Groups whose members, unless operators, are auditors; if both are empty: claims decide no role."
    )
    renew: Seconds = setting(
        0.0,
        "Time for which keys, sessions, groups and role count after a sign-in, such as 1d; 0: always.",
        AtLeast(0),
    )
    create: bool = setting(True, "Whether a first sign-in creates an account.")
    tokens: bool = setting(False, "Whether access tokens authenticate in place of API keys.")
    audiences: tuple[str, ...] = setting((), "Audiences of its access tokens besides the URLs of the directory.")
    read_scope: str = setting(READ_SCOPE, "Scope of tokens that may read; if empty: each may.", line(200))
    write_scope: str = setting(WRITE_SCOPE, "Scope of tokens that may publish; if empty: each may.", line(200))
    publish: tuple[str, ...] = setting(
        (),
        "Namespaces of access tokens with a claim, such as groups=publishers io.acme/*.",
        _publish_rules,
    )


@frozen
class SignInConfig:
    """Sign-in with other servers, which are in tables of their own."""

    issuer: tuple[IssuerConfig, ...] = setting((), "The issuers.", _complete)

    @property
    def sign_in_issuers(self) -> Sequence[IssuerConfig]:
        """The issuers with which people sign in."""
        return [issuer for issuer in self.issuer if issuer.client_id]

    @property
    def token_issuers(self) -> Sequence[IssuerConfig]:
        """The issuers whose access tokens authenticate."""
        return [issuer for issuer in self.issuer if issuer.tokens]

    def check(self, config: Config) -> None:
        """Raise ConfigError for issuers without a public URL of the directory, to which they redirect."""
        if self.issuer and not config.web.url:
            raise ConfigError("sign_in.issuer: needs web.url, the public URL of the directory")
