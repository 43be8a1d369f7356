"""Managed settings of clients: their URLs, and the page of operators."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlencode

from attrs import define, field, frozen
from twisted.internet.defer import Deferred, DeferredLock
from werkzeug.exceptions import NotFound as UnknownPath

from ... import serialization
from ...domain.errors import DirectoryError
from ...domain.scopes import Scope
from ...feature.parts import WebPart
from ...feature.server import Server
from ...http import Request
from ...http.headers import query
from ...tables import ready_lists, scope_of_list
from ...web.account import Sent, page
from ...web.forms import parameters
from ...web.operator_requests import ADMIN, OperatorRequests
from ...web.responses import conditional_response, json_response
from ...web.routes import APPS, Api, App
from .selection import FILES, FileName, Policy, Selection
from .settings import ManagedSettingsConfig

PATH = "/api/open/v1/managed-settings"
PAGE = f"{ADMIN}/managed-settings"

FRESH = 60.0
"""Seconds after which the entries are read again, whatever the log says: curation flags and marks are not in it."""

MAX_CACHED = 20
"""Policies in memory."""

MAX_WARNINGS = 500
"""Warnings on the page. The command prints all."""


@define
class Policies:
    """Policies by keywords, scope and list, each with the time and the position in the log before it was built.

    They are built one at a time: a fleet of machines may poll at once.
    """

    _selection: Selection
    _seconds: Callable[[], float]
    _cached: dict[tuple[str, Scope, str], tuple[float, int, Policy]] = field(factory=dict, init=False)
    _lock: DeferredLock = field(factory=DeferredLock, init=False)

    async def get(self, keywords: str, scope: Scope = None, name: str = "") -> Policy:
        """Return the policy of the selected entries, of the list `name` if it is not empty.

        It has all changes in the log of the scope, and is at most FRESH seconds old. Raises as Selection.policy does.
        """
        # Of all requests that wait, the first one builds the policy for those that came before.
        head = await self._selection.store.head()
        return await self._lock.run(lambda: Deferred.fromCoroutine(self._get(keywords, scope, name, head)))

    async def _get(self, keywords: str, scope: Scope, name: str, head: int) -> Policy:
        key, selection = (keywords, scope, name), self._selection.within(scope, name)
        at, seq, policy = self._cached.get(key, (0.0, 0, None))
        is_old = not 0 <= self._seconds() - at < FRESH
        if policy is None or is_old or (head > seq and await selection.store.has_changes(seq)):
            at, seq = self._seconds(), await selection.store.head()
            policy = await selection.policy(keywords)
            self._cached.pop(key, None)
            self._cached[key] = at, seq, policy
            if len(self._cached) > MAX_CACHED:
                del self._cached[next(iter(self._cached))]
        return policy


@frozen
class ManagedSettingsHandlers:
    """Handles the files for clients with an API key, and the page and downloads of operators."""

    app = App()

    _requests: OperatorRequests
    _server: Server
    _policies: Policies

    @property
    def _is_on(self) -> bool:
        return self._server.config.of(ManagedSettingsConfig).enabled

    @app.get(f"{PATH}/{{file}}", api=Api("settings"))
    async def get(self, request: Request, file: str) -> bytes:
        """Respond with a file. Raises UnknownPath if the feature is off or for another name."""
        if not self._is_on:
            raise UnknownPath
        name = _name(file)
        async with self._server.authenticator.authenticate(request) as authenticated:
            keywords = serialization.url_parameters(query(request), "keywords").get("keywords", "")
            # The machines of a fleet have one key, and wait for one policy.
            await authenticated.charge(waits=False)
            policy = await self._policies.get(keywords, self._server.catalogue.scope_of(request), request.list_name)
            body = serialization.encode(policy.document(name))
        return conditional_response(request, body, "private, no-cache")

    @app.get(PAGE)
    @page("list")
    async def page(self, sent: Sent) -> Mapping[str, Any]:
        """Return the page with the files, and the warnings of the selected entries."""
        keywords, name = _shown(sent.fields)
        policy, reason = None, ""
        try:
            policy = await self._of_list(keywords, name)
        except DirectoryError as error:
            reason = error.message
        return {
            "text": keywords,
            "policy": policy,
            "reason": reason,
            "warnings": policy.warnings[:MAX_WARNINGS] if policy else (),
            "files": FILES,
            "is_on": self._is_on,
            "lists": await ready_lists(self._server.storage.tables)
            if self._server.catalogue.scopes is not None
            else (),
            "list": name,
            "base_url": f"{self._requests.base_url(sent.request)}{f'/r/{name}' if name else ''}{PATH}",
            "query": f"?{urlencode({'keywords': keywords})}" if keywords else "",
            "page_query": f"?{urlencode({'q': keywords, 'list': name})}",
        }

    @app.get(f"{PAGE}/{{file}}")
    async def download(self, request: Request, file: str) -> bytes:
        await self._requests.member(request)
        content = (await self._of_list(*_shown(parameters(request)))).document(_name(file))
        saved_as = "managed-mcp.json" if file == "managed-mcp.json" else "managed-settings.json"
        disposition = f'attachment; filename="{saved_as}"'
        body = f"{serialization.pretty(content)}\n".encode()
        return json_response(request, body, 200, **{"Content-Disposition": disposition})

    async def _of_list(self, keywords: str, name: str) -> Policy:
        """Return the policy of the entries of a list, or of the curated ones. Raises NotFound for an unknown list."""
        return await self._policies.get(
            keywords, await scope_of_list(self._server.storage.tables, name) if name else None, name
        )


def _shown(chosen: Mapping[str, str]) -> tuple[str, str]:
    """Return the keywords and the list that an operator has chosen."""
    return chosen.get("q", "").strip(), chosen.get("list", "")


def _name(file: str) -> FileName:
    """Return the name of a file. Raises UnknownPath for another text."""
    if file not in FILES:
        raise UnknownPath
    return file


NAME = "managed_settings"


def _serve(server: Server) -> None:
    storage = server.storage
    policies = Policies(Selection(storage.store, storage.curation, server.offload, storage.tables), server.now)
    server.add(APPS, ManagedSettingsHandlers(server.operators.of_folder(NAME), server, policies).app)


PART = WebPart(
    serve=_serve,
    tabs=(("rules", PAGE, f"{NAME}.tab"),),
)
