"""Look-alikes: entries whose name, package or remote imitates or repeats that of another entry."""

from ...feature import Feature

FEATURE = Feature(
    "lookalikes",
    __name__,
    settings="settings:LookalikesConfig",
    section="Entries",
    commands={"lookalikes": "List the entries that resemble or repeat others, as the server has found them."},
    command="command:lookalikes",
    run="flagged:run",
    runs_if="enabled",
)
