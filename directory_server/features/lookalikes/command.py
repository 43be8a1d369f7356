"""`directory-server lookalikes`: the entries that resemble others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from ...cli.context import command_context, wait_for
from ...cli.output import json_option, print_listing
from ...domain.flags import LOOKALIKE
from ...serialization import rfc3339
from ...tables import flags_of_kind


@click.command()
@json_option
@click.pass_context
def lookalikes(ctx: click.Context, as_json: bool) -> None:
    """List the entries that resemble others, as the server has found them."""
    tables = command_context(ctx).storage.background_tables
    found = wait_for(tables.read(lambda rows: flags_of_kind(rows, LOOKALIKE)))
    records = [
        {"name": flag.name, "reason": flag.reason, "original": flag.other, "since": rfc3339(flag.since)}
        for flags in found.values()
        for flag in flags
    ]
    columns: dict[str, Callable[[Any], object]] = {
        "NAME": lambda each: each["name"],
        "REASON": lambda each: each["reason"],
        "ORIGINAL": lambda each: each["original"],
        "SINCE": lambda each: each["since"],
    }
    print_listing(sorted(records, key=lambda each: each["name"]), columns, as_json)
