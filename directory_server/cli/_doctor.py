"""`directory-server doctor`: tests a deployment, and says what to do."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial
from ipaddress import ip_network
from shutil import disk_usage
from typing import Any
from urllib.parse import urlsplit

import click
from attrs import asdict
from attrs.filters import exclude

from .. import __version__, serialization
from ..config import shown_settings
from ..domain.errors import BadInput
from ..domain.upstreams import UpstreamState
from ..domain.work import BACKUP
from ._status import server_state
from .context import CHECKS, CommandContext, command_context, servers_of, wait_for
from .findings import Check, Finding, Unreachable, certificate_expiry, clock_findings, fetch, findings_of
from .output import echo, json_option, minute, print_json

LEAST_FREE = 1_000_000_000
"""Bytes of the disk that should be free."""

LEAST_DAYS = 14
"""Days that a certificate should be valid."""

BACKUP_AGE = 7 * 86_400.0
"""Seconds after which another backup is due."""

MAX_KEYS = 1_000
"""Keys whose last uses are read."""

_COLORS = {"error": "red", "warning": "yellow", "ok": "green"}
"""The states of findings, the worst first."""


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
    findings.sort(key=lambda finding: (list(_COLORS).index(finding.state), finding.check))
    if as_json:
        print_json([{**asdict(finding, filter=exclude("is_error")), "state": finding.state} for finding in findings])
    for finding in () if as_json else findings:
        click.echo(click.style(f"{finding.state:9}", fg=_COLORS[finding.state]), nl=False)
        echo(f"{finding.check}: {finding.text}")
        if finding.cure:
            echo(f"         {finding.cure}")
    if any(finding.state == "error" for finding in findings):
        raise SystemExit(1)


def _server(context: CommandContext) -> Iterator[Finding]:
    config, servers = context.config, servers_of(context.config)
    state = server_state(config, servers)["state"]
    cure = "" if state.startswith("running") else "Start it, and read its log: journalctl -u directory-server"
    yield Finding("server", f"It is {state}.", cure)
    here = shown_settings(config)
    if servers and (others := [name for name in here if servers[0].settings.get(name, here[name]) != here[name]]):
        text = f"The running server has others than this command: {', '.join(others[:5])}."
        yield Finding("settings", text, "Run doctor with the --config and the variables of the server.", is_error=False)


def _data(context: CommandContext) -> Iterator[Finding]:
    if not context.config.database:
        folder = context.config.data_dir.absolute()
        free = disk_usage(folder).free
        cure = "" if free >= LEAST_FREE else "Free space, or move data_dir."
        yield Finding("disk", f"{free / 1e9:,.1f} GB are free in {folder}.", cure)
    backup = wait_for(context.storage.work.all()).get(BACKUP)
    is_late = backup is None or backup.age > BACKUP_AGE
    text = f"The last one is of {minute(backup.at)} UTC." if backup else "None was made by this software."
    cure = "Each day, by a timer: directory-server backup /backup/$(date +%F)" if is_late else ""
    yield Finding("backup", text, cure, is_error=False)


def _addresses(context: CommandContext) -> Iterator[Finding]:
    """Yield a warning if all clients seem to be a proxy on this machine."""
    config, host = context.config, urlsplit(context.config.web.url).hostname
    if host in (None, "localhost", "127.0.0.1", "::1") or config.http.trusted_proxies:
        return
    keys = wait_for(context.storage.people.roster.all_keys(limit=MAX_KEYS))
    networks = {listed.use.client.network for listed in keys if listed.use and listed.use.client.network}
    if networks and all(_is_loopback(network) for network in networks):
        text = "All keys were last used from this machine, where the proxy may be."
        cure = "Let the proxy send X-Forwarded-For, and set http.trusted_proxies to its address."
        yield Finding("proxy", text, cure, is_error=False)
    elif networks:
        yield Finding("proxy", "Addresses of clients are known.")


def _is_loopback(network: str) -> bool:
    try:
        return ip_network(network, strict=False).is_loopback
    except ValueError:
        return False


def _url(url: str) -> Iterator[Finding]:
    """Yield findings about the public URL, its certificate, and what a proxy there says of requests."""
    if not url:
        text = "web.url is empty: links and configurations have the local URL."
        yield Finding("url", text, "Set web.url to the URL that clients use.", is_error=False)
        return
    base = url.rstrip("/")
    try:
        answer = fetch(f"{base}/healthz")
        health: Any = serialization.decode(answer.body)
        if answer.status != 200 or "generation" not in health:
            raise BadInput("It is another server.")
        version = health.get("version", __version__)
        cure = "" if version == __version__ else "Restart the server after an upgrade."
        yield Finding("url", f"{url} answers, version {version}.", cure, is_error=False)
        if base.startswith("https:"):
            yield from _tls(base)
    except Unreachable as error:
        yield Finding("url", f"{url} {error}.", "Check the name, the proxy, its certificate and the firewall.")
    except (BadInput, TypeError, AttributeError):
        text = f"{url} answers with the status {answer.status}, and not as this server."
        cure = (
            "Check the address of the server in the proxy, and let it pass all paths on, without a sign-in of its own."
        )
        yield Finding("url", text, cure)


def _tls(base: str) -> Iterator[Finding]:
    page = fetch(f"{base}/account/sign-in")
    cookies = " ".join(page.fields.get("set-cookie", ()))
    if b"http.allowed_hosts" in page.body:
        cure = "Let the proxy pass the Host header on (nginx: proxy_set_header Host $http_host), or add it there."
        yield Finding("proxy", "The Host header that the proxy sends is not in http.allowed_hosts.", cure)
    elif "Secure" in cookies:
        yield Finding("proxy", "The server knows that clients use TLS.")
    elif cookies:
        cure = "Let the proxy send X-Forwarded-Proto, and set http.trusted_proxies to its address."
        yield Finding("proxy", "The server does not know that clients use TLS.", cure)
    expiry = certificate_expiry(base)
    days = int((expiry - time.time()) // 86_400)
    cure = "" if days >= LEAST_DAYS else "Renew it, and check the timer that renews it."
    text = f"It is valid for {days:,} days, until {minute(expiry)} UTC."
    yield Finding("certificate", text, cure, is_error=False)


def _upstream(name: str, url: str, interval: float, state: UpstreamState | None) -> Iterator[Finding]:
    check, cure = f"upstream {name}", f"See 'directory-server upstream log {name}'."
    if state is None or state.last_success is None:
        error = state.error if state else "It was never synced."
        yield Finding(check, error or "It was never synced.", "Start the server, or run 'sync'.", is_error=False)
    elif state.error:
        yield Finding(check, f"Last success {minute(state.last_success)} UTC. {state.error}", cure)
    elif time.time() - state.last_success > 3 * interval:
        yield Finding(check, f"Its data is of {minute(state.last_success)} UTC.", cure, is_error=False)
    else:
        yield Finding(check, f"Synced at {minute(state.last_success)} UTC.")
    if url.startswith(("http://", "https://")):
        try:
            yield from clock_findings(name, fetch(url).skew)
        except Unreachable as failure:
            yield Finding(check, f"It {failure}.", "Check the URL, the network and the firewall.")
