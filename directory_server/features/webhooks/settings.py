"""Settings of webhooks."""

from __future__ import annotations

from attrs import frozen

from ...config import networks, setting


@frozen
class WebhooksConfig:
    """Webhooks: signed messages about changes of entries, sent to URLs that operators name."""

    allowed_networks: tuple[str, ...] = setting(
        (),
        "Networks that are not public and may receive messages, also by http, such as 10.0.0.0/8.",
        networks,
    )
