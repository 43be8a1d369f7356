"""`directory-server entry`: local entries, and curation of upstream entries."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import click
from attrs import asdict
from twisted.internet.task import Clock

from .. import importer, serialization
from ..config import index_folder
from ..domain.details import detail_of
from ..domain.entries import Entry, mcp_id_of
from ..domain.errors import BadInput, NotFound
from ..domain.search import Page, Query
from ..domain.versions import LOCAL
from ..domain.visibility import Mark
from ..runtime.run_sync import inline
from ..runtime.timers import Listeners
from ..search import ImpactIndex, MappedIndexFile
from ..services.feed import Feed
from ..services.index_keeper import IndexKeeper
from .context import CommandContext, command_context, in_context, wait_for
from .output import Group, Record, echo, listing, print_json

_MCP_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_NAME = click.argument("name")


@click.group(cls=Group)
def entry() -> None:
    """Add local entries, and edit, hide, pin or allow upstream entries. Syncs do not revert this."""


@entry.command()
@click.argument("file")
@click.pass_context
def add(ctx: click.Context, file: str) -> None:
    """Add the entries of FILE (- for standard input) as local entries; they override upstream entries by name."""
    entries = _read(file)
    outcomes = wait_for(command_context(ctx, new=True).storage.store.publish(LOCAL, entries))
    for entry, outcome in zip(entries, outcomes, strict=True):
        echo(f"{entry.name} {entry.version}: {outcome.replace('_', ' ')}")


@entry.command()
@_NAME
@click.argument("file", required=False)
@click.option("--set", "fields", multiple=True, metavar="FIELD=VALUE", help="A field, such as title; may be repeated.")
@click.pass_context
def edit(ctx: click.Context, name: str, file: str | None, fields: Sequence[str]) -> None:
    """Replace the entry NAME with the one in FILE, or set some of its fields.

    FIELD is a field of server.json; nested fields are written as repository.url. VALUE is text, or JSON if it begins
    with { or [. An empty VALUE removes the field.
    """
    if (file is None) == (not fields):
        raise click.UsageError("Give either a FILE or --set.")
    store = command_context(ctx).storage.store
    if file is not None:
        (edited,) = _only(_read(file), name)
    else:
        version = wait_for(store.version(name, "latest"))
        if version is None or version.deleted:
            raise NotFound(f"No entry is called {name!r}.")
        edited = serialization.edited(serialization.restore_entry(version.body), _values(fields))
    (outcome,) = wait_for(store.publish(LOCAL, [edited]))
    echo(f"{edited.name} {edited.version}: {outcome.replace('_', ' ')}")


@entry.command()
@_NAME
@in_context
def remove(context: CommandContext, name: str) -> None:
    """Remove the local entry NAME. An upstream entry of that name becomes visible again."""
    if not wait_for(context.storage.curation.disown(name)):
        raise NotFound(f"There is no local entry called {name!r}.")
    echo(f"{name}: removed")


def _marking(command: str, mark: Mark, on: bool, done: str, about: str) -> None:
    @entry.command(command, help=about)
    @click.argument("names", nargs=-1, required=True, metavar="NAME...")
    @in_context
    def put(context: CommandContext, names: Sequence[str]) -> None:
        for name in names:
            known = wait_for(context.storage.store.version(name, "latest"))
            changed = wait_for(context.storage.curation.mark(name, mark, on))
            # An upstream may add the entry later, but a misspelt name is more likely.
            warning = " (no entry has this name at the moment)" if changed and on and known is None else ""
            echo(f"{name}: {done if changed else 'unchanged'}{warning}")


_marking("hide", "hidden", True, "hidden", "Hide NAME in searches, lists and the change feed.")
_marking("unhide", "hidden", False, "not hidden", "Show NAME again.")
_marking("pin", "pinned", True, "pinned", "Rank NAME first in the searches that match it.")
_marking("unpin", "pinned", False, "not pinned", "Rank NAME by relevance again.")
_marking("allow", "allowed", True, "allowed", "Add NAME to the allowed entries.")
_marking("disallow", "allowed", False, "not allowed", "Remove NAME from the allowed entries.")


@entry.command("list")
@listing(
    {
        "NAME": "name",
        "FLAGS": lambda record: ", ".join(name for name, is_set in record.items() if is_set is True),
    }
)
@in_context
def list_(context: CommandContext) -> Iterable[Record]:
    """List local entries and curated names, with their flags: local, published, hidden, pinned, allowed."""
    return map(asdict, wait_for(context.storage.curation.curated()))


@entry.command()
@_NAME
@in_context
def show(context: CommandContext, name: str) -> None:
    """Print the entry NAME as JSON, as the REST API returns it, and its source.

    NAME may also be the mcp_id of an entry. The source is local, published, or the name of an upstream.
    """
    store = context.storage.store
    shown = wait_for(store.entry(name if _MCP_ID.fullmatch(name) else mcp_id_of(name)))
    if shown is None:
        raise NotFound(f"No visible entry is called {name!r}.")
    detail = serialization.decode(serialization.encode_detail(detail_of(shown)))
    source, _ = wait_for(store.preferred([shown.name])).get(shown.name, (None, ""))
    print_json({"source": source, **detail})


@entry.command()
@click.argument("keywords", nargs=-1, required=True, metavar="KEYWORDS...")
@click.option("--limit", type=click.IntRange(1, 100), default=10, show_default=True, help="Largest number of hits.")
@listing({"NAME": "name", "BRIEF": "brief", "MCP_ID": "mcp_id"})
@in_context
def search(context: CommandContext, keywords: Sequence[str], limit: int) -> Iterable[Record]:
    """Search as clients do, and print the hits, best first. It costs no quota.

    KEYWORDS are the search words of a client, with the same filters: 'tag:mail', 'runs:local', '-word', '"exact
    phrase"'. Write -- before them if one begins with a hyphen: entry search -- github -slack.
    """
    query = serialization.search_query(" ".join(keywords), limit)
    hits = wait_for(search_once(context, query)).hits
    if not hits:
        echo("No entry matches.", err=True)
    return [serialization.identified(hit) for hit in hits]


def _read(file: str) -> list[Entry]:
    """Return the entries of `file`. Raises BadInput where one of them cannot be read."""
    report = importer.ImportReport()
    entries = [entry for batch in importer.batches([file], report) for entry in batch]
    for rejection in report.rejections:
        raise BadInput(f"{file}{'' if rejection.line is None else f':{rejection.line}'}: {rejection.reason}")
    return entries


def _only(entries: Sequence[Entry], name: str) -> Sequence[Entry]:
    if [entry.name for entry in entries] != [name]:
        raise BadInput(f"The file must contain exactly one entry, called {name!r}.")
    return entries


def _value(field: str, text: str) -> Any:
    """Return the value of a field that is written so: JSON if it is an array or object. Raises BadInput."""
    if text[0] not in "[{":
        return text
    try:
        return serialization.decode(text.encode())
    except BadInput:
        raise BadInput(f"{field}: {text[:60]!r} begins like JSON but is not valid JSON.") from None


def _values(fields: Sequence[str]) -> Mapping[str, Any]:
    """Return the values of fields, each a text FIELD=VALUE. Raises BadInput."""
    values: dict[str, Any] = {}
    for text in fields:
        field, equals, value = text.partition("=")
        if not equals or not field.rpartition(".")[2]:
            raise BadInput(f"{text!r}: must be FIELD=VALUE.")
        values[field] = _value(field, value) if value else ""
    return values


async def search_once(context: CommandContext, query: Query) -> Page:
    """Return the hits for `query` in all entries. It reads the file of the index, if there is one, and writes none."""
    index, store, folder = ImpactIndex(inline), context.storage.store, index_folder(context.config)
    keeper = IndexKeeper(index, MappedIndexFile(index, folder), store, inline, time.monotonic) if folder else None
    await Feed(store, Listeners(), [index], [], Clock(), keeper).load()
    return await index.search(query)
