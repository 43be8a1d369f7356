"""All settings: names, defaults, descriptions and allowed values."""

from __future__ import annotations

import re
from collections.abc import Iterator
from ipaddress import ip_network
from pathlib import Path
from typing import Any, Literal, get_args

import attrs
from attrs import AttrsInstance, frozen

from ._checks import named_once
from ._declaring import UNLIMITED, setting
from ._declaring import at_least as _at_least
from ._declaring import each as _each
from ._upstream import UpstreamConfig


def describe(config: AttrsInstance, section: str = "") -> Iterator[tuple[str, str, str]]:
    """Yield for each setting its name, its value as `--set` would take it (secrets masked) and its meaning."""
    for attribute in attrs.fields(type(config)):
        value = getattr(config, attribute.name)
        if attrs.has(type(value)):
            yield from describe(value, f"{attribute.name}.")
        elif tables(attribute.type):
            for table in value:
                yield from describe(table, f"{attribute.name}.{table.name}.")
        else:
            yield section + attribute.name, _as_text(value, attribute), attribute.metadata["doc"]


def tables(kind: Any) -> type[AttrsInstance] | None:
    """Return the class of the tables in an array of tables, None if `kind` is the type of something else."""
    inside = get_args(kind)
    return inside[0] if inside and attrs.has(inside[0]) else None


def _as_text(value: object, attribute: attrs.Attribute[Any]) -> str:
    match value:
        case None:
            return UNLIMITED
        case _ if attribute.metadata["secret"]:
            return "(secret)" if value else ""
        case bool():
            return str(value).lower()
        case tuple():
            return str(attribute.metadata["separator"]).join(value)
        case _:
            return str(value)


def _above_zero(_: object, __: object, value: float) -> None:
    if value <= 0:
        raise ValueError("must be above 0")


def _endpoint(_: object, __: object, text: str) -> None:
    if text and not re.fullmatch(r"\w+:.+", text):
        raise ValueError("must be an endpoint such as tcp:9090:interface=127.0.0.1")


def _url(_: object, __: object, text: str) -> None:
    if text and not re.fullmatch(r"https?://[^\s/?#]+/?", text):
        raise ValueError("must be a URL such as https://directory.example.org, without a path")


def _proxies(_: object, __: object, items: tuple[str, ...]) -> None:
    for item in items:
        try:
            item == "unix" or ip_network(item, strict=False)
        except ValueError:
            raise ValueError("must be addresses or networks such as 127.0.0.1, 10.0.0.0/8, or unix") from None


@frozen
class HttpConfig:
    """Allowed hosts and origins, proxies, and limits of connections."""

    allowed_hosts: tuple[str, ...] = setting(
        (),
        "Allowed Host headers, separated by commas; if empty: localhost when bound to loopback, else any.",
        _each(r"[^\s/,]+", "hosts such as directory.example.org, without scheme or path"),
    )
    allowed_origins: tuple[str, ...] = setting(
        (),
        "Origins whose pages may call the APIs, besides the server's own, separated by commas.",
        _each(r"[a-z][a-z0-9+.-]*://[^\s/,]+", "origins such as https://app.example.org, without path"),
    )

    trusted_proxies: tuple[str, ...] = setting(
        (),
        "Proxies whose X-Forwarded-For and -Proto are trusted: addresses, networks, or unix for Unix sockets.",
        _proxies,
    )
    connections: int = setting(10_000, "Maximum number of open connections, not counting streams.", _at_least(1))
    per_address: int = setting(
        1_000,
        "Maximum number of connections per address (IPv6: per /64); trusted proxies have no limit.",
        _at_least(1),
    )
    queued: int = setting(
        67_108_864,
        "Maximum size in bytes of the responses buffered for slow clients, over all connections.",
        _at_least(1_000_000),
    )
    failed_keys: int = setting(30, "Requests per minute with invalid keys that an address may send.", _at_least(1))
    health: Literal["minimal", "full"] = setting(
        "minimal", "Content of /healthz: status and entries (minimal), also version and upstreams (full)."
    )


@frozen
class QuotaConfig:
    """Quota of API keys."""

    limit: int | None = setting(
        20, f"Requests in any 60 minutes that a new key is given, or {UNLIMITED}.", _at_least(1)
    )
    synchronous: Literal["normal", "full"] = setting(
        "normal", "Durability of commits: survive a process crash (normal) or also a power loss, slower (full)."
    )


@frozen
class StreamsConfig:
    """The event streams."""

    per_key: int = setting(16, "Maximum number of open streams per key.", _at_least(0))
    total: int = setting(20_000, "Maximum number of open streams.", _at_least(0))
    heartbeat: float = setting(15.0, "Seconds between two heartbeats on an idle stream.", _above_zero)
    rotation: float = setting(
        600.0, "Approximate seconds after which a stream ends and the client reconnects.", _above_zero
    )
    stall: float = setting(30.0, "Seconds after which a stream that is not read is closed.", _above_zero)
    grace: float = setting(10.0, "Seconds that a stopping server waits for requests and streams to end.", _above_zero)


@frozen
class KeysConfig:
    """Lifetime of API keys."""

    grace: float = setting(86_400.0, "Seconds for which the old secret stays valid after a rotation.", _at_least(0))


@frozen
class RegistryConfig:
    """The registry API, which editors read."""

    access: Literal["off", "public", "secret-path", "key"] = setting(
        "off",
        "Who may read it: nobody (off), everybody (public), holders of a secret path (secret-path) or of a key (key).",
    )
    listed: Literal["all", "curated"] = setting(
        "all", "Listed entries: all, or only those that are local, pinned or allowed (curated)."
    )
    per_minute: int = setting(120, "Requests per minute and address without a key.", _at_least(1))


@frozen
class AccountsConfig:
    """Registration, limits of accounts, and sessions."""

    registration: Literal["invite", "open"] = setting(
        "invite", "Who may create an account: invited people (invite), or everybody (open)."
    )
    keys: int = setting(5, "Keys that an account may have.", _at_least(0))
    pending_keys: int = setting(
        2, "Keys that an account may have until it is approved; they share one quota of quota.limit.", _at_least(0)
    )
    pending_total: int = setting(
        1_000, "Maximum number of accounts that wait for approval; then registration is closed.", _at_least(0)
    )
    unused: float = setting(
        1_209_600.0, "Seconds without use after which an account that is not approved is deleted.", _at_least(86_400)
    )
    per_address: int = setting(
        3, "Accounts that an address may register in 24 hours; an IPv6 address counts by its /64.", _at_least(1)
    )
    per_network: int = setting(
        10, "Accounts that a network may register in 24 hours: a /24 of IPv4, a /48 of IPv6.", _at_least(1)
    )
    idle: float = setting(86_400.0, "Seconds without a request after which a session ends.", _at_least(60))
    absolute: float = setting(604_800.0, "Seconds after which a session ends in any case.", _at_least(60))
    link: float = setting(259_200.0, "Seconds for which a link to set a password works.", _at_least(60))


@frozen
class WebConfig:
    """The web pages."""

    url: str = setting(
        "",
        "Public URL of the server; if empty: the local URL of the first endpoint.",
        _url,
    )
    hsts: int = setting(
        0,
        "Seconds of Strict-Transport-Security on TLS connections; 0 sends no header.",
        _at_least(0),
    )
    search: Literal["public", "accounts", "off"] = setting(
        "accounts", "Who may search on the pages: everybody (public), signed-in accounts (accounts), nobody (off)."
    )
    per_minute: int = setting(
        300, "Page requests per minute, for each address and each signed-in account.", _at_least(1)
    )
    streams: int = setting(1_000, "Maximum number of open page streams.", _at_least(0))


@frozen
class LogConfig:
    """Logging."""

    access: Literal["text", "json", "off"] = setting("text", "Access log format: text, json, or off.")
    access_file: str = setting("", "Access log file, one per process; if empty: the server log.")


@frozen
class MetricsConfig:
    """Prometheus metrics."""

    listen: str = setting(
        "",
        "Twisted endpoint of /metrics, which needs no authentication; if empty: none.",
        _endpoint,
    )


@frozen
class Config:
    """All settings; a bare `Config()` is the default configuration."""

    listen: tuple[str, ...] = setting(
        ("tcp:8080:interface=127.0.0.1",),
        "Twisted endpoints to listen on, separated by spaces.",
        _each(r"\w+:.+", "one or more endpoints such as tcp:8080 or unix:/run/directory.sock", empty=False),
        separator=" ",
    )
    reuse_port: bool = setting(
        False, "Whether several processes of the same user may listen on the same ports: true or false."
    )
    data_dir: Path = setting(  # noqa: RUF009 (ruff knows attrs.field, not what calls it)
        Path("data"), "Data directory; a relative path starts from the working directory."
    )
    http: HttpConfig = HttpConfig()
    quota: QuotaConfig = QuotaConfig()
    streams: StreamsConfig = StreamsConfig()
    keys: KeysConfig = KeysConfig()
    registry: RegistryConfig = RegistryConfig()
    log: LogConfig = LogConfig()
    metrics: MetricsConfig = MetricsConfig()
    accounts: AccountsConfig = AccountsConfig()
    web: WebConfig = WebConfig()
    upstream: tuple[UpstreamConfig, ...] = setting((), "Upstream registries.", named_once)
