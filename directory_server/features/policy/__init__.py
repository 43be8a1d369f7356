"""Policy: rules of the operator that hide entries, in the words of searches, with a dry run."""

from ...feature import Feature

FEATURE = Feature(
    "policy",
    __name__,
    settings="settings:PolicyConfig",
    web="web:PART",
    section="Entries",
    commands={"policy": "Show which entries the rules of the policy hide, or would hide."},
    command="command:policy",
    run="tables:run",
)
