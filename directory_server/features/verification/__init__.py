"""Verification: checks of the remotes and packages of entries, and what they have found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...feature import Feature
from .settings import VerifyConfig

if TYPE_CHECKING:
    import click

    from ...feature import Host, Running
    from ...web.parts import WebPart


def _web() -> WebPart:
    from .web import PART

    return PART


def _command() -> click.Command:
    from .command import verify

    return verify


def _run(host: Host) -> Running:
    from .service import running

    return running(host)


FEATURE = Feature("verify", web=_web, command=_command, settings=VerifyConfig, run=_run)
