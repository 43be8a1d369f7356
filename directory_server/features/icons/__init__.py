"""Icons of entries: fetched from their URLs, checked, and served by this server, so that pages load nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...feature import Feature
from .settings import IconsConfig

if TYPE_CHECKING:
    from ...feature import Host, Running
    from ...web.parts import WebPart


def _web() -> WebPart:
    from .web import PART

    return PART


def _run(host: Host) -> Running:
    from ...feature import Running
    from .choice import image_path

    return Running(entry_image=image_path) if host.config.of(IconsConfig).fetch else Running()


FEATURE = Feature("icons", _web, settings=IconsConfig, run=_run)
