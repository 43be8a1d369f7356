"""`directory-server quickstart`: fill an empty data directory and print the next steps."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import click

from .. import importer, sample, wording
from ..config import Config, endpoints
from ..domain.versions import SAMPLE
from ..serialization import pretty
from ._sync import configured_upstreams, sync_all
from .context import PROXY, CommandContext, command_context, configuration, run_in_reactor, wait_for
from .output import echo

if TYPE_CHECKING:
    from .. import mirror

MCP_PATH = "/api/open/mcp"
SEARCH_PATH = "/api/open/v1/search"


@click.command()
@click.option("--check-ports", "check", is_flag=True, help="Fail if a port to listen on is in use.")
@click.pass_context
def quickstart(ctx: click.Context, check: bool) -> None:
    """Fill an empty directory, create a first key and print the next steps.

    Upstreams that were never synced are synced. A directory without entries gets the sample catalogue.
    """
    if check:
        check_ports(configuration(ctx))
    context = command_context(ctx, new=True)
    upstreams = [each for each in configured_upstreams(context.config) if wait_for(_is_new(context, each))]
    if upstreams:
        run_in_reactor(lambda reactor: _sync_and_begin(reactor, context, upstreams))
    else:
        wait_for(_begin(context))


async def _is_new(context: CommandContext, upstream: mirror.Upstream) -> bool:
    return (await context.storage.mirrors.get(upstream.name)).last_success is None


async def _sync_and_begin(reactor: Any, context: CommandContext, upstreams: Sequence[mirror.Upstream]) -> None:
    echo(
        f"Syncing {', '.join(upstream.url for upstream in upstreams)}. The first sync may take some minutes.", err=True
    )
    if not await sync_all(reactor, context, upstreams, full=False):
        echo("The server repeats a failed sync by itself.", err=True)
    await _begin(context)


async def _begin(context: CommandContext) -> None:
    store, keys = context.storage.store, context.storage.keys
    if not await store.count():
        if context.config.upstream:
            echo("There are no entries yet: the sample catalogue is served meanwhile.", err=True)
        await importer.import_files([str(sample.path())], store.publish, source=SAMPLE, official=True)
    secret = None
    if not await context.storage.roster.all_keys(limit=1):
        _, secret = await keys.create("first key", limit=context.config.quota.limit, expires_at=None)
    pages = context.config.web.search == "public"
    echo(instructions(context.public_url, secret, await store.count(), pages=pages))


def check_ports(config: Config) -> None:
    """Raise ClickException if a TCP port of `config` is in use or not permitted."""
    if config.reuse_port or config.processes > 1:
        return
    for description in config.listen:
        endpoint = endpoints.read(description)
        url = urlsplit(endpoint.url or "")
        if not url.hostname or not url.port:
            continue
        family = socket.AF_INET6 if ":" in url.hostname else socket.AF_INET
        with closing(socket.socket(family, socket.SOCK_STREAM)) as probe:
            # As in the server: connections in TIME_WAIT do not block the port.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((endpoint.named.get("interface") or ("::" if endpoint.kind == "tcp6" else ""), url.port))
            except OSError as error:
                raise click.ClickException(
                    f"Cannot listen on {description}: {error.strerror}. Choose another port, as in "
                    "'make run PORT=8081' or --set listen=tcp:8081:interface=127.0.0.1."
                ) from None


def editor_configuration(base: str, key: str) -> str:
    """Return the editor configuration for a server with an API key, as JSON."""
    server = {
        "type": "http",
        "url": base + MCP_PATH,
        "headers": {"Authorization": f"Bearer {key}", "Content-Type": "application/json"},
    }
    return pretty({"mcpServers": {"mcp-directory": server}})


def instructions(base: str, key: str | None, entries: int, *, pages: bool = False) -> str:
    """Return the next steps. `key` is None if it was shown before; `pages` means that the search page is public."""
    shown = key or "<your key>"
    key_line = f"Your API key (shown only once): {key}" if key else "Your API key: the one shown at the first start"
    address = "  ADDRESS:       the address of your proxy or systemd socket\n" if base == PROXY else ""
    browser = f"  In a browser:  {base}/\n" if pages else ""
    others = f"{base}/docs/start" if pages else "README.md"
    return f"""
MCP directory server: {wording.entries(entries)}
  MCP endpoint:  {base}{MCP_PATH}
  REST search:   {base}{SEARCH_PATH}
{browser}{address}  {key_line}

Try it:
  curl -H 'Authorization: Bearer {shown}' '{base}{SEARCH_PATH}?keywords=github'

Paste into an editor (Cursor: ~/.cursor/mcp.json; others: see {others}):
{editor_configuration(base, shown)}
"""
