"""Removals: entries with malicious packages, as OSV records name them, are shown without what installs them."""

from ...feature import Feature

FEATURE = Feature(
    "removals",
    __name__,
    settings="settings:RemovalsConfig",
    web="web:PART",
    section="Entries",
    commands={"removals": "List, check and refresh the removals of entries with malicious packages."},
    command="command:removals",
    run="remover:run",
    runs_if="sources",
)
