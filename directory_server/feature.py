"""The record by which a feature registers what it adds to a server."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from attrs import frozen

if TYPE_CHECKING:
    import click

    from .web.parts import WebPart


@frozen
class Feature:
    """A part of the server that can be absent.

    `web` returns its routes, handlers and pages, and `command` its command of `directory-server`. Both import their
    modules when they are called: commands need no web server, and a server needs no commands.
    """

    name: str
    web: Callable[[], WebPart] | None = None
    command: Callable[[], click.Command] | None = None
