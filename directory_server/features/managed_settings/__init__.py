"""Managed settings: files by which editors allow exactly the servers of the curated catalogue."""

from ...feature import Feature

FEATURE = Feature(
    "managed_settings",
    __name__,
    settings="settings:ManagedSettingsConfig",
    web="web:PART",
    section="Registries and clients",
    commands={
        "managed-settings": "Write files by which editors allow exactly the servers of curated entries, or of a list."
    },
    command="command:managed_settings",
)
