"""Reports of readers about entries: a form on the pages, a list for operators, and a command."""

from ...feature import Feature

FEATURE = Feature(
    "reports",
    __name__,
    settings="settings:ReportsConfig",
    web="web:PART",
    section="Entries",
    commands={"report": "List and close reports of readers about entries."},
    resources=("resource:REPORTS",),
)
