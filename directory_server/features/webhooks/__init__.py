"""Webhooks: signed messages about changes of entries, sent to URLs that operators name."""

from ...feature import Feature
from .settings import WebhooksConfig

FEATURE = Feature(
    "webhooks",
    __name__,
    settings=WebhooksConfig,
    run="service:running",
    resources=("resource:WEBHOOKS",),
)
