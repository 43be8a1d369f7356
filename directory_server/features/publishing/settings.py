"""Settings of publishing."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import frozen

from ...config import AtLeast, Bytes, Seconds, above_zero, each_matches, issuer_url, networks, setting
from ...domain.patterns import is_pattern
from ...domain.publishing import SourceLimits
from ...domain.versions import PUBLISHED
from .tokens import ANY, MAX_NAMESPACES

MAX_ALLOWED = 200
"""Patterns of a setting."""

GITHUB_EVENTS = ("push", "release", "schedule", "workflow_dispatch")
"""Events of GitHub whose builds publish by default. Strangers cause other events, such as pull_request_target."""

_claims = each_matches(r"[^=\s]+=.+", "claims such as repository=acme/servers")


def _check_namespaces(items: tuple[str, ...], most: int, *others: str) -> None:
    if len(items) > most or not all(item in others or is_pattern(item) for item in items):
        raise ValueError(f"must be at most {most} namespaces such as io.acme/*, io.acme/tool or io.acme.*/*")


def proven_namespaces(_: object, __: object, items: tuple[str, ...]) -> None:
    """Validate patterns of names, or the pattern of all names that are proven."""
    _check_namespaces(items, MAX_ALLOWED, ANY)


def namespaces(_: object, __: object, items: tuple[str, ...]) -> None:
    """Validate patterns of names, as of a token."""
    _check_namespaces(items, MAX_NAMESPACES)


@frozen
class PublishConfig:
    """Publishing with publisher tokens over the registry API."""

    enabled: bool = setting(False, "Whether publisher tokens may publish entries.")
    per_minute: int = setting(60, "Requests per minute of each publisher token.", AtLeast(1))
    max_entries: int = setting(10_000, "Limit of published names, deleted ones included.", AtLeast(1))
    max_bytes: Bytes = setting(200_000_000, "Limit of the size of published entries.", AtLeast(100_000))
    log: Seconds = setting(31_536_000.0, "Time for which a record of the audit log is stored.", above_zero)

    github_namespaces: tuple[str, ...] = setting(
        (),
        "Namespaces that GitHub Actions publish, such as io.github.acme/*; *: that of any owner.",
        proven_namespaces,
    )
    github_audience: str = setting("", "Audience of tokens of GitHub; if empty: web.url.")
    github_issuer: str = setting(
        "https://token.actions.githubusercontent.com", "Issuer of tokens of GitHub.", issuer_url
    )
    github_claims: tuple[str, ...] = setting(
        (),
        "Claims of tokens of GitHub, such as repository=acme/servers and ref=refs/heads/main; one value of a "
        "claim is enough. Without event_name: push, release, schedule, workflow_dispatch.",
        _claims,
    )
    dns_namespaces: tuple[str, ...] = setting(
        (), "Namespaces that their domain's TXT record proves, such as com.acme.*/*; *: any.", proven_namespaces
    )
    http_namespaces: tuple[str, ...] = setting(
        (), "Namespaces that a file on their domain's web server proves; *: any.", proven_namespaces
    )
    http_networks: tuple[str, ...] = setting(
        (), "Networks that are not public and may be asked for that file, such as 10.0.0.0/8.", networks
    )
    oidc_issuer: str = setting(
        "",
        "URL of another issuer whose tokens publish, such as https://gitlab.example.org.",
        issuer_url,
    )
    oidc_audience: str = setting("", "Audience of its tokens; if empty: web.url.")
    oidc_claims: tuple[str, ...] = setting(
        (),
        "Claims that its tokens must have, such as project_path=acme/servers.",
        _claims,
    )
    oidc_namespaces: tuple[str, ...] = setting((), "Namespaces that its tokens publish.", namespaces)

    @property
    def has_logins(self) -> bool:
        """Whether there are logins without a publisher token."""
        return bool(self.github_namespaces or self.dns_namespaces or self.http_namespaces or self.oidc_namespaces)

    @property
    def source_limits(self) -> Mapping[str, SourceLimits]:
        """The limits of published entries."""
        return {PUBLISHED: SourceLimits(self.max_entries, self.max_bytes)}
