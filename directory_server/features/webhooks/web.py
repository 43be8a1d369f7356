"""The web part of webhooks: routes, handlers, the tab and the notice of operators."""

from __future__ import annotations

from typing import Any

from ...web.operator_requests import Notice
from ...web.pages import Extension
from ...web.parts import Endpoints, Kernel, WebPart
from ...web.routes import PAGES, Route
from .pages import WEBHOOKS, WebhookPages
from .settings import WebhooksConfig
from .tables import count_paused

NAME = "webhooks"

_ONE = f"{WEBHOOKS}/{{webhook_id}}"


def _serve(kernel: Kernel) -> Endpoints:
    allows_http = bool(kernel.config.of(WebhooksConfig).allowed_networks)
    return Endpoints({NAME: WebhookPages(kernel.operators.of_folder(NAME), kernel, allows_http)})


async def _paused(storage: Any) -> Notice | None:
    count = await count_paused(storage.tables)
    return Notice(WEBHOOKS, f"{NAME}.paused", count) if count else None


PART = WebPart(
    extension=Extension(NAME, "directory_server.features.webhooks", tabs=(("server", WEBHOOKS, f"{NAME}.tab"),)),
    routes=(
        Route(WEBHOOKS, "GET", PAGES, "webhooks.get"),
        Route(WEBHOOKS, "POST", PAGES, "webhooks.post"),
        Route(_ONE, "GET", PAGES, "webhooks.get_one"),
        Route(f"{_ONE}/test", "GET", PAGES, "webhooks.get_test"),
        Route(f"{_ONE}/test", "POST", PAGES, "webhooks.test"),
        Route(f"{_ONE}/rotate", "POST", PAGES, "webhooks.rotate"),
        Route(f"{_ONE}/secret", "GET", PAGES, "webhooks.secret"),
        Route(f"{_ONE}/remove", "GET", PAGES, "webhooks.get_remove"),
        Route(f"{_ONE}/remove", "POST", PAGES, "webhooks.remove"),
    ),
    serve=_serve,
    notices=(_paused,),
)
