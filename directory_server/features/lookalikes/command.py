"""`directory-server lookalikes`: the entries that resemble others, duplicates included."""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter

import click

from ...cli.context import CommandContext, in_context, wait_for
from ...cli.output import Record, listing
from ...domain.notes import ENTRY_FLAGS
from ...serialization import rfc3339
from ...tables import notes_of_kinds


@click.command()
@listing({"NAME": "name", "REASON": "reason", "ORIGINAL": "original", "SINCE": "since"})
@in_context
def lookalikes(context: CommandContext) -> Sequence[Record]:
    """List the entries that resemble or repeat others, as the server has found them."""
    tables = context.storage.background_tables
    found = wait_for(tables.read(lambda rows: notes_of_kinds(rows, ENTRY_FLAGS)))
    records = [
        {"name": flag.name, "reason": flag.reason, "original": flag.other, "since": rfc3339(flag.since)}
        for flags in found.values()
        for flag in flags
    ]
    return sorted(records, key=itemgetter("name"))
