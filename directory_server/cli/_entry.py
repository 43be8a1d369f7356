"""`directory-server entry`: an organisation's own entries, and its say in those of others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click
from attrs import evolve

from .. import importer, serialization
from ..domain.curation import LOCAL, Mark
from ..domain.entries import Entry
from ..domain.errors import BadInput, NotFound
from ..run_sync import run_sync
from ._context import entries_context
from ._output import echo

_NAME = click.argument("name")


@click.group()
def entry() -> None:
    """Add entries, and edit, hide, pin or allow those that upstreams have; no sync undoes it."""


@entry.command()
@click.argument("file")
@click.pass_context
def add(ctx: click.Context, file: str) -> None:
    """Add the entries of FILE (or - for standard input) as the directory's own, before all upstreams' of that name."""
    entries = _read(file)
    outcomes = run_sync(entries_context(ctx, new=True).store.publish(LOCAL, entries))
    for each, outcome in zip(entries, outcomes, strict=True):
        echo(f"{each.name} {each.version}: {outcome.replace('_', ' ')}")


@entry.command()
@_NAME
@click.argument("file", required=False)
@click.option("--set", "fields", multiple=True, metavar="FIELD=VALUE", help="A field, such as title; may be repeated.")
@click.pass_context
def edit(ctx: click.Context, name: str, file: str | None, fields: Sequence[str]) -> None:
    """Put what is in FILE in the place of the entry NAME, or set fields of it.

    FIELD is a member of server.json, or one inside another: repository.url. VALUE is text, JSON where it begins with
    { or [, and empty to take the member away.
    """
    if (file is None) == (not fields):
        raise click.UsageError("Give either a FILE or --set.")
    store = entries_context(ctx).store
    if file is not None:
        (edited,) = _only(_read(file), name)
    else:
        found = run_sync(store.version(name, "latest"))
        if found is None or found.deleted:
            raise NotFound(f"No entry is called {name!r}.")
        edited = _with(serialization.restore_entry(found.body), fields)
    (outcome,) = run_sync(store.publish(LOCAL, [edited]))
    echo(f"{edited.name} {edited.version}: {outcome.replace('_', ' ')}")


@entry.command()
@_NAME
@click.pass_context
def remove(ctx: click.Context, name: str) -> None:
    """Take the directory's own entry NAME away; an upstream's, if there is one, is shown again."""
    if not run_sync(entries_context(ctx).curation.disown(name)):
        raise NotFound(f"The directory has no entry of its own that is called {name!r}.")
    echo(f"{name}: removed")


def _marking(command: str, mark: Mark, on: bool, done: str, about: str) -> None:
    @entry.command(command, help=about)
    @click.argument("names", nargs=-1, required=True, metavar="NAME...")
    @click.pass_context
    def put(ctx: click.Context, names: Sequence[str]) -> None:
        at = entries_context(ctx)
        for name in names:
            known = run_sync(at.store.version(name, "latest"))
            made = run_sync(at.curation.mark(name, mark, on))
            # It may come yet; more often it is misspelt.
            doubt = " (no entry is called that at the moment)" if made and on and known is None else ""
            echo(f"{name}: {done if made else 'unchanged'}{doubt}")


_marking("hide", "hidden", True, "hidden", "Show NAME nowhere: not in searches, lists and changes.")
_marking("show", "hidden", False, "shown", "Show NAME again.")
_marking("pin", "pinned", True, "pinned", "Have NAME come first among the hits of the searches that find it.")
_marking("unpin", "pinned", False, "not pinned", "Have NAME come where it comes by itself.")
_marking("allow", "allowed", True, "allowed", "Put NAME on the list of what is allowed.")
_marking("disallow", "allowed", False, "not allowed", "Take NAME off the list of what is allowed.")


@entry.command("list")
@click.pass_context
def list_(ctx: click.Context) -> None:
    """List the names that the operator has a say in, and how."""
    for each in run_sync(entries_context(ctx).curation.curated()):
        said = {"own": each.local, "hidden": each.hidden, "pinned": each.pinned, "allowed": each.allowed}
        echo(f"{each.name}  {', '.join(word for word, is_so in said.items() if is_so)}")


def _read(file: str) -> list[Entry]:
    """Return the entries of `file`. Raises BadInput where one of them cannot be read."""
    report = importer.ImportReport()
    entries = [each for batch in importer.batches([file], report) for each in batch]
    for refusal in report.refusals:
        raise BadInput(f"{file}{'' if refusal.line is None else f':{refusal.line}'}: {refusal.reason}")
    return entries


def _only(entries: Sequence[Entry], name: str) -> Sequence[Entry]:
    if [each.name for each in entries] != [name]:
        raise BadInput(f"The file must hold one entry, and that must be called {name!r}.")
    return entries


def _value(field: str, text: str) -> Any:
    """Return the value of a field that is written so: JSON if it is an array or object. Raises BadInput."""
    if text[0] not in "[{":
        return text
    try:
        return serialization.decode(text.encode())
    except BadInput:
        raise BadInput(f"{field}: {text[:60]!r} begins like JSON and is none.") from None


def _with(entry: Entry, fields: Sequence[str]) -> Entry:
    """Return `entry` with `fields` set, each a text FIELD=VALUE. Raises BadInput."""
    server = serialization.decode(serialization.encode(entry.server))
    for text in fields:
        field, equals, value = text.partition("=")
        *outer, last = field.split(".")
        if not equals or not last:
            raise BadInput(f"{text!r}: must be FIELD=VALUE.")
        inside = server
        for part in outer:
            inside = inside.setdefault(part, {})
            if not isinstance(inside, dict):
                raise BadInput(f"{field}: {part} is no object.")
        if value:
            inside[last] = _value(field, value)
        else:
            inside.pop(last, None)
    edited = serialization.decode_entry({"server": server, "_meta": entry.meta})
    if edited.name != entry.name:
        raise BadInput("name: an entry keeps its name; add another one instead.")
    return evolve(edited, meta=entry.meta, is_official=entry.is_official)
