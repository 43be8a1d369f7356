"""Look-alikes: entries whose name, package or remote imitates or repeats that of another entry."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...feature import Feature
from .settings import LookalikesConfig

if TYPE_CHECKING:
    import click

    from ...feature import Host, Running


def _command() -> click.Command:
    from .command import lookalikes

    return lookalikes


def _run(host: Host) -> Running:
    from .service import running

    return running(host)


FEATURE = Feature("lookalikes", command=_command, settings=LookalikesConfig, run=_run)
