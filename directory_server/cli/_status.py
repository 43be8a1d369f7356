"""`directory-server status`: the server, the stored data, and the upstreams."""

from __future__ import annotations

import os
import ssl
import time
from collections.abc import Iterator, Sequence
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import HTTPSHandler, ProxyHandler, Request, build_opener

import click

from .. import __version__, serialization
from ..config import Config
from ..domain.accounts import ACCOUNT_STATES
from ..domain.errors import BadInput
from ..domain.upstreams import UpstreamState
from ..services.running import RunningServer
from ..storage import place
from ..texts.wording import counted, entries
from ._config import server_line
from ._upstream import upstream_record
from .context import PROXY, CommandContext, allowed_host, command_context, local_url, servers_of, wait_for
from .output import Record, echo, json_option, minute, print_json, with_dates

TIMEOUT = 2.0
"""Seconds to wait for a server's answer."""

_HEALTH_BYTES = 65_536


@click.command()
@json_option
@click.pass_context
def status(ctx: click.Context, as_json: bool) -> None:
    """Show the server, entries, keys, accounts, disk and upstreams.

    The exit code is 0 also if no server runs.
    """
    context = command_context(ctx)
    processes, upstreams = servers_of(context.config), wait_for(context.storage.mirrors.all())
    status = _status(context, processes, upstreams)
    if as_json:
        print_json(status)
        return
    for name, text in _lines(context, status, processes, upstreams):
        echo(f"{name:16}{text}")


def _status(
    context: CommandContext, processes: Sequence[RunningServer], upstreams: Sequence[UpstreamState]
) -> dict[str, Any]:
    storage = context.storage
    totals = wait_for(storage.people.roster.totals(time.time()))
    return {
        "software": __version__,
        "server": server_state(context.config, processes),
        "processes": [_process(process) for process in processes],
        "storage": place(context.config) if context.config.database else str(context.config.data_dir.resolve()),
        "bytes": None if context.config.database else _size(context.config.data_dir),
        "entries": wait_for(storage.store.count()),
        "last_change": wait_for(storage.store.head()),
        "keys": {"valid": totals.valid_keys, "total": totals.keys},
        "accounts": {state: totals.accounts[state] for state in ACCOUNT_STATES if state in totals.accounts},
        "upstreams": [with_dates(upstream_record(upstream)) for upstream in upstreams],
    }


def _lines(
    context: CommandContext,
    status: dict[str, Any],
    processes: Sequence[RunningServer],
    upstreams: Sequence[UpstreamState],
) -> Iterator[tuple[str, str]]:
    """Yield the names and texts of the lines."""
    server = status["server"]
    yield "server", f"{server['state']}{' at ' + server['url'] if server['url'] else ''}"
    yield "software", status["software"]
    for running in processes:
        yield "process", server_line(running).removeprefix("process ")
    yield ("database" if context.config.database else "data directory"), status["storage"]
    if status["bytes"] is not None:
        yield "disk", f"{status['bytes'] / 1e6:,.1f} MB"
    yield "entries", f"{status['entries']:,}"
    yield "last change", f"{status['last_change']:,}"
    yield "keys", f"{status['keys']['valid']:,} valid, {status['keys']['total']:,} total"
    yield "accounts", ", ".join(f"{count:,} {state}" for state, count in status["accounts"].items()) or "none"
    for line in wait_for(context.storage.control.describe()):
        name, _, text = line.partition("  ")
        yield name, text.strip()
    for upstream in upstreams:
        last = f"last sync {minute(upstream.last_success)} UTC" if upstream.last_success else "not synced yet"
        yield "upstream", f"{upstream.name}: {entries(upstream.entries)}, {last}"
        if upstream.error:
            yield "", f"{counted(upstream.failures, 'failed sync run')} since then; the last error: {upstream.error}"


def server_state(config: Config, processes: Sequence[RunningServer]) -> dict[str, Any]:
    """Return the local URL of the running server, and its state in words."""
    return _server(local_url(config, processes), allowed_host(config, processes))


def _process(server: RunningServer) -> Record:
    return with_dates({"pid": server.pid, "version": server.version, "started_at": server.started_at})


def _server(url: str, host: str) -> dict[str, Any]:
    """Return what /readyz and /healthz at `url` answer to requests for `host`, if that is not empty.

    `state` is "running", "not ready: …", "answers with the status …", or "not reachable".
    """
    if url == PROXY:
        return {"url": None, "state": "listens on sockets only"}
    _, health = _get(f"{url}/healthz", host)
    code, readiness = _get(f"{url}/readyz", host)
    if health is None or readiness is None:
        return {"url": url, "state": "not reachable"}
    if code not in (200, 503):
        return {"url": url, "state": f"answers with the status {code}"}
    state = "running" if code == 200 else f"not ready: {', '.join(map(str, readiness.get('reasons', ())))}"
    version = health.get("version")
    return {"url": url, "state": f"{state}, version {version}" if version else state}


def _get(url: str, host: str) -> tuple[int | None, Any]:
    """Return the status and the JSON object of the answer; None and None without a valid answer."""
    # Certificates name the public host, not the local address. The requests have no secret; the answer is only shown.
    unverified = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    unverified.check_hostname = False
    unverified.verify_mode = ssl.CERT_NONE
    # Requests to a local server must not go to a proxy of the environment.
    opener = build_opener(ProxyHandler({}), HTTPSHandler(context=unverified))
    try:
        try:
            with opener.open(Request(url, headers={"Host": host} if host else {}), timeout=TIMEOUT) as response:
                code, body = response.status, response.read(_HEALTH_BYTES)
        except HTTPError as error:
            code, body = error.code, error.read(_HEALTH_BYTES)
        answer = serialization.decode(body)
    except (OSError, HTTPException, BadInput):
        return None, None
    return (code, answer) if isinstance(answer, dict) else (None, None)


def _size(folder: Path) -> int:
    """Return the bytes of the files in a data directory."""
    with os.scandir(folder) as files:
        return sum(file.stat().st_size for file in files if file.is_file())
