"""`directory-server quickstart`: fill an empty data directory and print the next steps."""

from __future__ import annotations

import shlex
import shutil
import socket
import sys
from collections.abc import Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

import click
from attrs import frozen

from .. import importer, sample
from ..config import Config, endpoints
from ..domain.versions import SAMPLE
from ..services.accounts import invitation
from ..texts import wording
from ._sync import configured_upstreams, sync_all
from .context import PAGE, PROXY, CommandContext, command_context, configuration, run_in_reactor, wait_for
from .output import echo

if TYPE_CHECKING:
    from .. import mirror

MCP_PATH = "/api/open/mcp"
SEARCH_PATH = "/api/open/v1/search"

NAME = "directory-server"
"""Name of this program."""

OPERATOR = "operator@localhost"
"""Address of the first operator."""


@click.command()
@click.option("--check-ports", "check", is_flag=True, help="Fail if a port to listen on is in use.")
@click.pass_context
def quickstart(ctx: click.Context, check: bool) -> None:
    """Fill an empty directory, create a first key and the first operator, and print the next steps.

    Upstreams that were never synced are synced. A directory without entries gets the sample catalogue. A directory
    without accounts gets an operator, whose sign-in link is printed once.
    """
    if check:
        check_ports(configuration(ctx))
    context = command_context(ctx, new=True)
    upstreams = [upstream for upstream in configured_upstreams(context.config) if wait_for(_is_new(context, upstream))]
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
    storage = context.storage
    if not await storage.store.count():
        is_late = "There are no entries yet: the sample catalogue is served meanwhile."
        echo(is_late if context.config.upstream else "Importing the sample catalogue.", err=True)
        await importer.import_files([str(sample.path())], storage.store.publish, source=SAMPLE, official=True)
    secret = None
    if not await storage.people.roster.all_keys(limit=1):
        _, secret = await storage.people.keys.create("first key", limit=context.config.quota.limit, expires_at=None)
    listed = [row.account for row in await storage.people.roster.all_accounts(limit=PAGE)]
    link = ""
    if not listed:
        operator = await storage.people.accounts.add(OPERATOR)
        await storage.people.accounts.set_role(operator.id, "operator")
        lifetime = context.config.accounts.link
        link = await invitation(storage.people.accounts, operator.id, lifetime, context.public_url)
    operators = (account.email for account in listed if account.is_operator)
    steps = NextSteps(
        base=context.public_url,
        pages=context.config.web.search,
        key=secret,
        link=link,
        lifetime=context.config.accounts.link,
        operator=next(operators, ""),
        command=_command(),
    )
    echo(steps.text(await storage.store.count()))


def _command() -> str:
    """Return the command line of this program with the options before `quickstart`, for a shell."""
    program, *words = sys.argv[: sys.argv.index("quickstart")] if "quickstart" in sys.argv else [NAME]
    return shlex.join([NAME if program == shutil.which(NAME) else program, *words])


def check_ports(config: Config) -> None:
    """Raise ClickException if a TCP port of `config` is in use or not permitted."""
    if config.reuse_port:
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


@frozen
class NextSteps:
    """What a person does after `quickstart`.

    `base` is the URL of the server, and `pages` the setting web.search. `key` is None, and `link` empty, if
    they were shown before. `lifetime` is that of the link in seconds, `operator` the address of an operator if there is
    one, and `command` the command line before the name of a command.
    """

    base: str
    pages: Literal["public", "accounts", "off"]
    key: str | None
    link: str
    lifetime: float
    operator: str
    command: str

    def text(self, entries: int) -> str:
        """Return the steps as lines, for a directory with a number of `entries`."""
        address = "ADDRESS is the address of your proxy or systemd socket." if self.base == PROXY else ""
        browser = f"\n  In a browser:  {self.base}/" if self.pages == "public" else ""
        parts = [
            f"MCP directory server: {wording.entries(entries)}{browser}\n  MCP endpoint:  {self.base}{MCP_PATH}",
            address,
            self._sign_in(),
            self._connect(),
        ]
        return "\n" + "\n\n".join(filter(None, parts)) + "\n"

    def _sign_in(self) -> str:
        if self.link:
            return (
                f"Open this to sign in as operator (once, within {wording.duration(self.lifetime)}; your address is "
                f"{OPERATOR}):\n  {self.link}"
            )
        if self.operator:
            what = f"account reset {shlex.quote(self.operator)}"
            return f"A link to sign in as operator was shown at the first start. New one:\n  {self.command} {what}"
        what = "account add --role operator you@example.org"
        return f"This directory has no operator. Create one, and get a link to sign in:\n  {self.command} {what}"

    def _connect(self) -> str:
        if self.key is None:
            what = "key create --label laptop"
            return f"An API key was shown at the first start. New one:\n  {self.command} {what}"
        header = f"Authorization: Bearer {self.key}"
        guide = "docs/connect.md" if self.pages == "off" else f"{self.base}/docs/connect"
        return f"""Your API key (shown only once): {self.key}

Connect Claude Code (other editors: {guide}):
  claude mcp add --scope user --transport http mcp-directory {self.base}{MCP_PATH} --header "{header}"

Try the search:
  curl -H '{header}' '{self.base}{SEARCH_PATH}?keywords=github'"""
