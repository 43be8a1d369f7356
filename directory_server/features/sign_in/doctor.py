"""Test of the issuers, for `directory-server doctor`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ...cli.findings import Check, Finding, Unreachable, clock_findings, fetch
from ...config import Config
from ...domain.errors import BadInput
from ...serialization import decode
from .settings import IssuerConfig, SignInConfig


def checks(config: Config) -> Mapping[str, Check]:
    """Return a check of each issuer of OpenID Connect."""
    issuers = [issuer for issuer in config.of(SignInConfig).issuer if issuer.kind == "oidc"]
    return {f"issuer {issuer.name}": lambda issuer=issuer: _check(issuer) for issuer in issuers}  # type: ignore[misc]


def _check(issuer: IssuerConfig) -> Iterator[Finding]:
    name, cure = f"issuer {issuer.name}", "Check sign_in.issuer.url, the network and the firewall."
    try:
        answer = fetch(f"{issuer.url.rstrip('/')}/.well-known/openid-configuration")
        document = decode(answer.body)
    except Unreachable as error:
        yield Finding(name, f"{issuer.url} {error}.", cure)
        return
    except BadInput:
        yield Finding(name, f"{issuer.url} has no discovery document: status {answer.status}.", cure)
        return
    url = document.get("issuer") if isinstance(document, dict) else None
    if url == issuer.url:
        yield Finding(name, f"{issuer.url} answers.")
    else:
        yield Finding(name, f"It calls itself {str(url)[:200]!r}.", f"Set the url of the issuer to {url!r}.")
    yield from clock_findings(issuer.name, answer.skew)
