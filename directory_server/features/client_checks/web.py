"""The web part of client checks: the page of operators."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from attrs import frozen

from ...domain.errors import BadInput
from ...feature.parts import WebPart
from ...http.headers import value
from ...http.proxies import Proxies
from ...web.account import Sent, page
from ...web.operator_requests import ADMIN, OperatorRequests
from ...web.routes import APPS, App
from .checks import Checks, Send, proxy_finding, sender

NAME = "client_checks"

PAGE = f"{ADMIN}/clients"

_SECRET_PATH = re.compile(r"/r/[A-Za-z0-9._~-]{1,200}")


@frozen
class ClientChecksPage:
    """Handles the page that says what each client would see at the public URL of this server."""

    app = App()

    _requests: OperatorRequests
    _send: Send
    _proxies: Proxies

    @app.get(PAGE)
    @page("clients")
    async def get(self, sent: Sent) -> Mapping[str, Any]:
        """Return the page; with `run`, send the requests of all clients, which change nothing."""
        path, url = sent.fields.get("path", "").strip().rstrip("/"), self._requests.base_url(sent.request)
        if path and not _SECRET_PATH.fullmatch(path):
            raise BadInput("path: must be a secret path of the registry API, such as /r/TOKEN.")
        # Requests go to this server only, whatever an operator enters.
        checks = Checks(self._send, url, url + path)
        results = await checks.results() if "run" in sent.fields else ()
        # The operator may read this page at another URL, such as one of loopback.
        is_public = url == f"https://{value(sent.request, 'Host')}"
        proxy = proxy_finding(sent.request, self._proxies) if is_public else None
        return {"public_url": url, "secret_path": path, "results": results, "proxy": proxy}


PART = WebPart(
    serve=lambda server: server.add(
        APPS, ClientChecksPage(server.operators.of_folder(NAME), sender(server.reactor), server.proxies).app
    ),
    tabs=(("server", PAGE, f"{NAME}.tab"),),
)
