"""Removals: entries with malicious packages, as OSV records name them, are shown without what installs them."""

from ...feature import Feature
from .settings import RemovalsConfig

FEATURE = Feature(
    "removals",
    __name__,
    settings=RemovalsConfig,
    web="web:PART",
    command="command:removals",
    run="service:running",
    runs_if="sources",
)
