"""Output of the commands, without terminal control sequences from foreign text."""

from __future__ import annotations

import click

from ..sanitize import clean


def echo(text: str, *, err: bool = False) -> None:
    """Print `text`, cleaned, to standard output or standard error."""
    click.echo(clean(text), err=err)
