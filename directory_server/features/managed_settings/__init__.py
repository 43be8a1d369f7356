"""Managed settings: files by which editors allow exactly the servers of the curated catalogue."""

from ...feature import Feature
from .settings import ManagedSettingsConfig

FEATURE = Feature(
    "managed_settings",
    __name__,
    settings=ManagedSettingsConfig,
    web="web:PART",
    command="command:managed_settings",
)
