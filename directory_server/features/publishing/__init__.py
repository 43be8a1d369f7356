"""Publishing: publisher tokens publish entries over the registry API, with an audit log."""

from ...feature import Feature

FEATURE = Feature(
    "publish",
    __name__,
    settings="settings:PublishConfig",
    web="web:PART",
    section="Registries and clients",
    commands={"publisher": "Create, list and revoke publisher tokens, and show what they published."},
    command="command:publisher",
    run="service:run",
    resources=("publisher_tokens:PUBLISHER_TOKENS",),
)
