"""Verification: checks of the remotes and packages of entries, and what they have found."""

from ...feature import Feature

FEATURE = Feature(
    "verify",
    __name__,
    settings="settings:VerifyConfig",
    section="Entries",
    commands={"verify": "Check the remotes and packages of the entries NAMES, or all that are due."},
    command="command:verify",
    run="service:run",
)
