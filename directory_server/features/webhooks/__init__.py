"""Webhooks: signed messages about changes of entries, sent to URLs that operators name."""

from ...feature import Feature

FEATURE = Feature(
    "webhooks",
    __name__,
    settings="settings:WebhooksConfig",
    section="Registries and clients",
    commands={"webhook": "Add, list, test and remove webhooks, and show what they were sent."},
    run="service:run",
    resources=("resource:WEBHOOKS",),
)
