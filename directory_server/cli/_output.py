"""What commands print: entries, labels and errors hold foreign text, which must not steer a terminal."""

from __future__ import annotations

import click

from ..sanitize import clean


def echo(text: str, *, err: bool = False) -> None:
    """Print `text`, cleaned, to standard output or standard error."""
    click.echo(clean(text), err=err)
