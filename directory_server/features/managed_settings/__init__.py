"""Managed settings: files by which editors allow exactly the servers of the curated catalogue."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...feature import Feature
from .settings import ManagedSettingsConfig

if TYPE_CHECKING:
    import click

    from ...web.parts import WebPart


def _web() -> WebPart:
    from .web import PART

    return PART


def _command() -> click.Command:
    from .command import managed_settings

    return managed_settings


FEATURE = Feature("managed_settings", web=_web, command=_command, settings=ManagedSettingsConfig)
