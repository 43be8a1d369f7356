"""All settings: names, defaults, meanings and allowed values."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal, TypeVar

from attrs import AttrsInstance, field, frozen

from ._types import Bytes, Seconds, Words
from ._upstreams import McpConfig, RegistryConfig, UpstreamConfig, unique_names, upstream_of_text
from ._validators import (
    AtLeast,
    above_zero,
    base_url,
    color,
    connection_string,
    each_matches,
    endpoint,
    line,
    listen_endpoints,
    proxies,
    setting,
)

Section = TypeVar("Section", bound=AttrsInstance)


@frozen
class HttpConfig:
    """Allowed hosts and origins, proxies, and limits of connections. Limits apply to each process."""

    allowed_hosts: tuple[str, ...] = setting(
        (),
        "Names accepted in Host; if empty: when all endpoints are bound to loopback, localhost, 127.0.0.1, "
        "[::1] and the host of web.url, else any.",
        each_matches(r"[^\s/,]+", "hosts such as directory.example.org, without scheme or path"),
    )
    allowed_origins: tuple[str, ...] = setting(
        (),
        "Origins whose pages may call the APIs, besides the server's own.",
        each_matches(r"[a-z][a-z0-9+.-]*://[^\s/,]+", "origins such as https://app.example.org, without path"),
    )
    trusted_proxies: tuple[str, ...] = setting(
        (),
        "Proxies whose X-Forwarded-For and X-Forwarded-Proto are trusted: addresses, networks, unix for a UNIX socket.",
        proxies,
    )
    connections: int = setting(10_000, "Limit of open connections, streams excluded.", AtLeast(1))
    per_address: int = setting(
        1_000,
        "Limit of open connections per address (IPv6: /64 network), except trusted proxies.",
        AtLeast(1),
    )
    queued: Bytes = setting(
        67_108_864,
        "Limit of responses for slow clients, and of incomplete requests; above it, the longest waiting "
        "client is disconnected.",
        AtLeast(1_000_000),
    )
    failed_keys: int = setting(30, "Requests with invalid keys per minute and address.", AtLeast(1))
    health: Literal["minimal", "full"] = setting(
        "minimal",
        "Content of /healthz: status and number of entries; or also version, upstreams, issuers, faults.",
    )


@frozen
class QuotaConfig:
    """Quota of API keys."""

    limit: int | None = setting(20, "Requests in any 60 minutes for a new key.", AtLeast(1), daily=True)
    synchronous: Literal["normal", "full"] = setting(
        "normal",
        "Whether a charge survives a process crash, or also power loss but is slower.",
    )


@frozen
class StreamsConfig:
    """The event streams. Limits apply to each process."""

    per_key: int = setting(16, "Limit of open streams of a key.", AtLeast(0))
    total: int = setting(20_000, "Limit of open streams.", AtLeast(0))
    heartbeat: Seconds = setting(15.0, "Time between two heartbeats on an idle stream.", above_zero)
    rotation: Seconds = setting(
        600.0, "Approximate time after which a stream ends and its client reconnects.", above_zero
    )
    stall: Seconds = setting(30.0, "Time after which a stream whose client does not read is closed.", above_zero)
    grace: Seconds = setting(10.0, "Time that a stopping server waits for requests and streams.", above_zero)


@frozen
class KeysConfig:
    """Rotation and last use of API keys."""

    grace: Seconds = setting(86_400.0, "Time for which the old secret is valid after a rotation.", AtLeast(0))
    last_use: Seconds = setting(
        7_776_000.0,
        "Time for which time, network and client of the last use are stored; 0: none, and stored ones are deleted.",
        AtLeast(0),
    )


@frozen
class LogConfig:
    """Logging."""

    access: Literal["text", "json", "off"] = setting("text", "Format of the access log.")
    access_file: str = setting("", "File of the access log; -: standard output; if empty: server log.")


@frozen
class MetricsConfig:
    """Prometheus metrics."""

    listen: str = setting(
        "", "Twisted endpoint of /metrics, without authentication; if empty: none.", endpoint, daily=True
    )


@frozen
class AccountsConfig:
    """Registration, limits of accounts, and sessions. Limits of registrations apply to each process."""

    registration: Literal["invite", "open"] = setting(
        "invite", "Who may create an account: invited people, or everybody.", daily=True
    )
    keys: int = setting(5, "Limit of keys of an account; an ended key counts for an hour.", AtLeast(0))
    pending_keys: int = setting(
        2,
        "Limit of keys of an account that is not approved, with one quota.limit.",
        AtLeast(0),
    )
    pending_total: int = setting(
        1_000, "Limit of accounts that wait for approval; above it, registration is closed.", AtLeast(0)
    )
    unused: Seconds = setting(
        1_209_600.0, "Time after which an unused account that is not approved is deleted.", AtLeast(86_400)
    )
    per_address: int = setting(3, "Registrations of an address (IPv6: /64 network) in 24 hours.", AtLeast(1))
    per_network: int = setting(10, "Registrations of a network (IPv4 /24, IPv6 /48) in 24 hours.", AtLeast(1))
    idle: Seconds = setting(86_400.0, "Time without a request after which a session ends.", AtLeast(60))
    absolute: Seconds = setting(604_800.0, "Time after which a session ends in any case.", AtLeast(60))
    session_clients: bool = setting(True, "Whether sessions are stored with network and browser.")
    link: Seconds = setting(259_200.0, "Time for which a link to set a password is valid.", AtLeast(60))
    passwords: bool = setting(True, "Whether passwords are used; else links sign in.")


@frozen
class WebConfig:
    """The web pages. Limits apply to each process."""

    url: str = setting(
        "",
        "Public URL of the server; if empty: the local URL of the first endpoint.",
        base_url,
        daily=True,
        step="admin.step_url",
    )
    hsts: Seconds = setting(0.0, "Duration of Strict-Transport-Security under TLS; 0: no header.", AtLeast(0))
    search: Literal["public", "accounts", "off"] = setting(
        "accounts",
        "Who may read the pages: everybody, signed-in accounts, nobody.",
        daily=True,
    )
    name: str = setting("", "Name of the directory, at most 40 characters; if empty: MCP directory.", line(40))
    about: str = setting(
        "",
        "Sentence on the start page, at most 200 characters; if empty: a general one.",
        line(200),
    )
    logo: str = setting(
        "",
        "File of a square logo: PNG, JPEG, WebP or SVG, at most 256 KiB.",
    )
    accent: str = setting(
        "",
        "Colour of links and buttons, such as #0b6670; if empty: teal.",
        color,
    )
    per_minute: int = setting(300, "Page requests per minute, of each account and each other address.", AtLeast(1))
    streams: int = setting(
        1_000,
        "Limit of open pages with live notices, 8 per address; at most a tenth of streams.total.",
        AtLeast(0),
    )


@frozen
class Config:
    """All settings; a bare `Config()` is the default configuration."""

    listen: Words = setting(
        ("tcp:8080:interface=127.0.0.1",),
        "Twisted endpoints to listen on, one or more.",
        listen_endpoints,
        daily=True,
    )
    reuse_port: bool = setting(False, "Whether processes of one user may share the ports.")
    data_dir: Path = setting(Path("data"), "Directory of all stored data.")
    database: str = setting(
        "",
        "PostgreSQL database, a connection string of libpq such as host=db.example.org dbname=directory, "
        "with the password in PGPASSFILE; if empty: SQLite.",
        connection_string,
        secret=True,
    )
    database_connections: int = setting(3, "Limit of connections of a process to the database.", AtLeast(3))
    index_dir: str = setting(
        "",
        "Directory of the file of the search index; if empty: data_dir, with database none.",
    )
    http: HttpConfig = HttpConfig()
    quota: QuotaConfig = QuotaConfig()
    streams: StreamsConfig = StreamsConfig()
    keys: KeysConfig = KeysConfig()
    registry: RegistryConfig = RegistryConfig()  # noqa: RUF009
    mcp: McpConfig = McpConfig()  # noqa: RUF009
    log: LogConfig = LogConfig()
    metrics: MetricsConfig = MetricsConfig()
    accounts: AccountsConfig = AccountsConfig()
    web: WebConfig = WebConfig()
    upstream: tuple[UpstreamConfig, ...] = setting(
        (),
        "Upstreams to follow; as text URLs, or official for the official registry.",
        unique_names,
        daily=True,
        table_of_text=upstream_of_text,
    )
    features: Mapping[str, AttrsInstance] = field(factory=dict)
    """The sections of features, by name."""
    sources: Mapping[str, str] = field(factory=dict, eq=False, repr=False)
    """Where settings are set that are: "--set", "environment", or the path of the file, by name."""

    def of(self, section: type[Section]) -> Section:
        """Return the settings of a feature, with the class that it registered; the defaults if it is not registered."""
        return next((feature for feature in self.features.values() if isinstance(feature, section)), None) or section()
