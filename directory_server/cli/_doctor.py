"""`directory-server doctor`: tests a deployment, and says what to do."""

from __future__ import annotations

import socket
import ssl
import time
from collections.abc import Iterator
from functools import partial
from ipaddress import ip_network
from shutil import disk_usage
from typing import Any
from urllib.parse import urlsplit

import click
from attrs import asdict

from .. import __version__, serialization
from ..config import shown_settings
from ..domain.errors import BadInput
from ..domain.upstreams import UpstreamState
from ..domain.work import BACKUP
from ._status import server_state
from .context import CHECKS, CommandContext, command_context, servers_of, wait_for
from .findings import TIMEOUT, Check, Finding, Unreachable, clock_findings, fetch, findings_of
from .output import echo, json_option, minute, print_json

LEAST_FREE = 1_000_000_000
"""Bytes of the disk that should be free."""

LEAST_DAYS = 14
"""Days that a certificate should be valid."""

BACKUP_DAYS = 7

MAX_KEYS = 1_000
"""Keys whose last uses are read."""

_ORDER = ("error", "warning", "ok")


@click.command()
@json_option
@click.pass_context
def doctor(ctx: click.Context, as_json: bool) -> None:
    """Test URL, proxy, certificate, time, disk, backup, upstreams, mail and issuers, and say what to do.

    Run it on the machine of the server, with the settings of the server. It takes at most 20 seconds and changes
    nothing. The exit code is 1 if there is an error.
    """
    context = command_context(ctx)
    config = context.config
    checks: dict[str, Check] = {"url": partial(_url, config.web.url)}
    states = {state.name: state for state in wait_for(context.storage.mirrors.all())}
    for upstream in config.upstream:
        checks[f"upstream {upstream.name}"] = partial(
            _upstream, upstream.name, upstream.url, upstream.interval, states.get(upstream.name)
        )
    for load in ctx.meta.get(CHECKS, ()):
        checks |= load()(config)
    findings = [*_server(context), *_data(context), *_addresses(context), *findings_of(checks)]
    findings.sort(key=lambda finding: (_ORDER.index(finding.state), finding.check))
    if as_json:
        print_json([asdict(finding) for finding in findings])
    for finding in () if as_json else findings:
        state = click.style(
            f"{finding.state:9}", fg={"ok": "green", "warning": "yellow", "error": "red"}[finding.state]
        )
        click.echo(state, nl=False)
        echo(f"{finding.check}: {finding.text}")
        if finding.cure:
            echo(f"         {finding.cure}")
    if any(finding.state == "error" for finding in findings):
        raise SystemExit(1)


def _server(context: CommandContext) -> Iterator[Finding]:
    config, servers = context.config, servers_of(context.config)
    state = server_state(config, servers)["state"]
    if state.startswith("running"):
        yield Finding("server", "ok", f"It is {state}.")
    else:
        yield Finding(
            "server", "error", f"It is {state}.", "Start it, and read its log: journalctl -u directory-server"
        )
    here = shown_settings(config)
    if servers and (others := [name for name in here if servers[0].settings.get(name, here[name]) != here[name]]):
        text = f"The running server has others than this command: {', '.join(others[:5])}."
        yield Finding("settings", "warning", text, "Run doctor with the --config and the variables of the server.")


def _data(context: CommandContext) -> Iterator[Finding]:
    config = context.config
    if not config.database:
        free = disk_usage(config.data_dir).free
        text = f"{free / 1e9:,.1f} GB are free in {config.data_dir.absolute()}."
        is_enough = free >= LEAST_FREE
        yield Finding(
            "disk", "ok" if is_enough else "error", text, "" if is_enough else "Free space, or move data_dir."
        )
    backup = wait_for(context.storage.work.all()).get(BACKUP)
    cure = "Each day, by a timer: directory-server backup /backup/$(date +%F)"
    if backup is None or not backup.has_ended:
        yield Finding("backup", "warning", "None was made by this software.", cure)
    elif backup.age > BACKUP_DAYS * 86_400:
        yield Finding("backup", "warning", f"The last one is of {minute(backup.at)} UTC.", cure)
    else:
        yield Finding("backup", "ok", f"The last one is of {minute(backup.at)} UTC.")


def _addresses(context: CommandContext) -> Iterator[Finding]:
    """Yield a warning if all clients seem to be a proxy."""
    config, host = context.config, urlsplit(context.config.web.url).hostname
    if host in (None, "localhost", "127.0.0.1", "::1"):
        return
    keys = wait_for(context.storage.people.roster.all_keys(limit=MAX_KEYS))
    networks = {listed.use.client.network for listed in keys if listed.use and listed.use.client.network}
    if networks and all(_is_loopback(network) for network in networks):
        text = f"All keys were last used from {', '.join(sorted(networks)[:3])}, which may be the proxy."
        cure = "Let the proxy send X-Forwarded-For, and set http.trusted_proxies to its address."
        if not config.http.trusted_proxies:
            yield Finding("proxy", "warning", text, cure)
    elif networks:
        yield Finding("proxy", "ok", "Addresses of clients are known.")


def _is_loopback(network: str) -> bool:
    try:
        return ip_network(network, strict=False).is_loopback
    except ValueError:
        return False


def _url(url: str) -> Iterator[Finding]:
    """Yield findings about the public URL, its certificate, and what a proxy there says of requests."""
    if not url:
        text = "web.url is empty: links and configurations have the local URL."
        yield Finding("url", "warning", text, "Set web.url to the URL that clients use.")
        return
    base = url.rstrip("/")
    try:
        answer = fetch(f"{base}/healthz")
    except Unreachable as error:
        yield Finding("url", "error", f"{url} {error}.", "Check the name, the proxy, its certificate and the firewall.")
        return
    try:
        health: Any = serialization.decode(answer.body)
    except BadInput:
        health = None
    if answer.status != 200 or not isinstance(health, dict) or "generation" not in health:
        text = f"{url} answers with the status {answer.status}, and not as this server."
        cure = "Let the proxy pass all paths on, with the Host header, and allow that host in http.allowed_hosts."
        yield Finding("url", "error", text, cure)
        return
    version = health.get("version", __version__)
    cure = "" if version == __version__ else "Restart the server after an upgrade."
    text = f"{url} answers, version {version}."
    yield Finding("url", "warning" if cure else "ok", text, cure)
    yield from _proxy(base)
    yield from _certificate(base)


def _proxy(base: str) -> Iterator[Finding]:
    if not base.startswith("https:"):
        return
    cookies = " ".join(fetch(f"{base}/account/sign-in").fields.get("set-cookie", ()))
    if "Secure" in cookies:
        yield Finding("proxy", "ok", "The server knows that clients use TLS.")
    elif cookies:
        cure = "Let the proxy send X-Forwarded-Proto, and set http.trusted_proxies to its address."
        yield Finding("proxy", "error", "The server does not know that clients use TLS.", cure)


def _certificate(base: str) -> Iterator[Finding]:
    parts = urlsplit(base)
    if parts.scheme != "https":
        return
    address = parts.hostname or "", parts.port or 443
    with (
        socket.create_connection(address, TIMEOUT) as plain,
        ssl.create_default_context().wrap_socket(plain, server_hostname=parts.hostname) as connection,
    ):
        expiry = ssl.cert_time_to_seconds(str((connection.getpeercert() or {}).get("notAfter")))
    days = int((expiry - time.time()) // 86_400)
    cure = "" if days >= LEAST_DAYS else "Renew it, and check the timer that renews it."
    text = f"It is valid for {days:,} days, until {minute(expiry)} UTC."
    yield Finding("certificate", "warning" if cure else "ok", text, cure)


def _upstream(name: str, url: str, interval: float, state: UpstreamState | None) -> Iterator[Finding]:
    check, cure = f"upstream {name}", f"See 'directory-server upstream log {name}'."
    if state is None or state.last_success is None:
        error = state.error if state else "It was never synced."
        yield Finding(check, "warning", error or "It was never synced.", "Start the server, or run 'sync'.")
    elif state.error:
        yield Finding(check, "error", f"Last success {minute(state.last_success)} UTC. {state.error}", cure)
    elif time.time() - state.last_success > 3 * interval:
        yield Finding(check, "warning", f"Its data is of {minute(state.last_success)} UTC.", cure)
    else:
        yield Finding(check, "ok", f"Synced at {minute(state.last_success)} UTC.")
    if url.startswith(("http://", "https://")):
        try:
            yield from clock_findings(name, fetch(url).skew)
        except Unreachable as failure:
            yield Finding(check, "error", f"It {failure}.", "Check the URL, the network and the firewall.")
