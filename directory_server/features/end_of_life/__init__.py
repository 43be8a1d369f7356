"""End of life and moves of entries: set by operators and publishers, shown on entries, and announced by webhooks."""

from ...feature import Feature

FEATURE = Feature(
    "end_of_life",
    __name__,
    settings="settings:EndOfLifeConfig",
    section="Entries",
    commands={
        "end-of-life": "Set, list and remove the ends of life of entries.",
        "move": "Move entries to other names, list and take back moves.",
    },
    run="service:run",
    resources=("resource:ENDINGS", "resource:MOVES"),
)
