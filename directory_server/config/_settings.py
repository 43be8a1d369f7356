"""Every setting: its name, its default, its meaning and what is allowed, in this one place."""

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
    """Under which names the server answers, to whose pages, and how many may connect."""

    allowed_hosts: tuple[str, ...] = setting(
        (),
        "Hosts that requests may name, separated by commas; if none: localhost when bound to loopback, else any.",
        _each(r"[^\s/,]+", "hosts such as directory.example.org, without scheme or path"),
    )
    allowed_origins: tuple[str, ...] = setting(
        (),
        "Origins whose pages may call besides the server's own, separated by commas.",
        _each(r"[a-z][a-z0-9+.-]*://[^\s/,]+", "origins such as https://app.example.org, without path"),
    )

    trusted_proxies: tuple[str, ...] = setting(
        (),
        "Proxies whose X-Forwarded-For and -Proto are believed: addresses, networks, or unix for peers of sockets.",
        _proxies,
    )
    connections: int = setting(10_000, "Connections that may be open at a time, streams apart.", _at_least(1))
    per_address: int = setting(
        1_000,
        "Of these, how many an address (IPv6: a /64) may have; trusted proxies may have any number.",
        _at_least(1),
    )
    queued: int = setting(
        67_108_864,
        "Bytes of answers that may wait for slow clients, of all connections together.",
        _at_least(1_000_000),
    )
    failed_keys: int = setting(
        30, "Requests a minute with keys that do not open that an address may send.", _at_least(1)
    )
    health: Literal["minimal", "full"] = setting(
        "minimal", "What /healthz tells anybody: status and entries (minimal), also version and upstreams (full)."
    )


@frozen
class QuotaConfig:
    """How often a key may ask."""

    limit: int | None = setting(
        20, f"Requests in any 60 minutes that a new key is given, or {UNLIMITED}.", _at_least(1)
    )
    synchronous: Literal["normal", "full"] = setting(
        "normal", "What spent quota outlives: the death of the process (normal) or, slower, a power loss (full)."
    )


@frozen
class StreamsConfig:
    """The event streams."""

    per_key: int = setting(16, "Streams that a key may hold open at a time.", _at_least(0))
    total: int = setting(20_000, "Streams that may be open at a time.", _at_least(0))
    heartbeat: float = setting(15.0, "Seconds between two signs of life on an idle stream.", _above_zero)
    rotation: float = setting(600.0, "Seconds after which a stream is ended, about, and opened anew.", _above_zero)
    stall: float = setting(30.0, "Seconds after which a reader who does not read is cut off.", _above_zero)
    grace: float = setting(10.0, "Seconds that a server which stops gives requests and streams to end.", _above_zero)


@frozen
class KeysConfig:
    """The life of API keys."""

    grace: float = setting(86_400.0, "Seconds for which the old secret works on after a rotation.", _at_least(0))


@frozen
class RegistryConfig:
    """The API by which editors browse the directory as their registry."""

    access: Literal["off", "public", "secret-path", "key"] = setting(
        "off", "Who may read it: nobody (off), all (public), who knows a path (secret-path), who sends a key (key)."
    )
    listed: Literal["all", "curated"] = setting(
        "all", "What it lists: all entries, or those alone that are local, pinned or allowed (curated)."
    )
    per_minute: int = setting(
        120, "Requests a minute that an address may send to it, where it is read without a key.", _at_least(1)
    )


@frozen
class AccountsConfig:
    """Who may have keys of their own, and for how long they are signed in."""

    registration: Literal["invite", "open"] = setting(
        "invite", "Who may make an account: those whom the operator invites (invite), or anybody (open)."
    )
    keys: int = setting(5, "Keys that an account may have.", _at_least(0))
    pending_keys: int = setting(
        2, "Keys that an account may have until it is approved; they share one quota of quota.limit.", _at_least(0)
    )
    pending_total: int = setting(
        1_000, "Accounts that may wait for approval; then registration is closed.", _at_least(0)
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
    """The pages for people."""

    url: str = setting(
        "",
        "URL at which people reach the server; if none: that of the first endpoint, from the same machine.",
        _url,
    )
    hsts: int = setting(
        0,
        "Seconds for which browsers that came by TLS insist on it (Strict-Transport-Security); 0 for not at all.",
        _at_least(0),
    )
    search: Literal["public", "accounts", "off"] = setting(
        "accounts", "Who may search on the pages: anybody (public), those who are signed in (accounts), nobody (off)."
    )
    per_minute: int = setting(
        300, "Pages a minute that an address may ask for, or a member who is signed in.", _at_least(1)
    )
    streams: int = setting(1_000, "Open pages that are told of news at a time.", _at_least(0))


@frozen
class LogConfig:
    """What is logged."""

    access: Literal["text", "json", "off"] = setting("text", "A line for each request: text, json, or off.")
    access_file: str = setting("", "File for these lines, each process its own; if none: the log of all.")


@frozen
class MetricsConfig:
    """The metrics, for Prometheus."""

    listen: str = setting(
        "",
        "Twisted endpoint at which /metrics is answered, to anybody who asks; if none: nowhere.",
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
        False, "Whether more processes of the same user may listen on the same ports: true or false."
    )
    data_dir: Path = setting(  # noqa: RUF009 (ruff knows attrs.field, not what calls it)
        Path("data"), "Folder of all that is kept; a relative one starts from the working directory."
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
    upstream: tuple[UpstreamConfig, ...] = setting((), "Registries to follow.", named_once)
