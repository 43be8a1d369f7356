"""Audit of requests: which ones are recorded, their subject, and the values before and after a change.

Only rows that write, and those whose reads an operator asks for, have a `Draft`. Others run no code of this module.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager
from typing import Any

from attrs import define, evolve, field, frozen

from ..domain.accounts import Account
from ..domain.audit import DONE, Actor, AuditEvent, is_secret_name, recorded_text
from ..domain.ports.audit import AuditTrail
from ..http import Request
from ..http.proxies import Proxies
from ..serialization import recorded_values
from .routes import PAGES, REGISTRY, Route

Values = Mapping[str, object]

Handler = Callable[..., Coroutine[Any, Any, bytes | None]]

_UNRECORDED = frozenset(("throttled",))
"""Outcomes of forms without a session that are not recorded: a client could fill the log."""


@define
class Draft:
    """The event of a request that is running. `begin` names its subject; without that nothing is recorded."""

    _auditor: Auditor
    _request: Request
    _action: str
    _target: str
    actor: Actor | None = None
    _before: Values = field(factory=dict)
    _after: Values = field(factory=dict)
    _begun: str = ""

    def identify(self, account: Account) -> None:
        """Set the account of the request."""
        self.actor = Actor("account", account.id, account.email)

    async def begin(self, actor: Actor, values: Values, target: str = "") -> None:
        """Store the action with its subject and the values that it sets, before it is done. Raises Unavailable."""
        self.note(actor, values, target)
        self._begun = await self._auditor.trail.begin(self._event(""))

    def note(self, actor: Actor, values: Values, target: str = "") -> None:
        """Set the subject and the values of an action that is recorded only after it is done."""
        self.actor, self._after, self._target = actor, values, target or self._target

    def set_values(self, before: Values, after: Values) -> None:
        """Set the values before and after the change."""
        self._before, self._after = before, after

    async def finish(self, outcome: str, *, is_read: bool) -> None:
        """Record the event if its subject is known."""
        if self.actor is None and self._request.key_id:
            self.actor = Actor("key", key_id=self._request.key_id)
        if is_read:
            self._auditor.trail.note_read(self._event(outcome))
        elif self._begun or (self.actor is not None and self._after and outcome not in _UNRECORDED):
            await self._auditor.trail.finish(self._begun, self._event(outcome))

    def _event(self, outcome: str) -> AuditEvent:
        actor = self.actor or Actor("anonymous")
        return AuditEvent(
            at=self._auditor.now(),
            actor=evolve(actor, network=self._auditor.proxies.network(self._request)),
            action=self._action,
            target=self._target,
            before=recorded_values(self._before),
            after=recorded_values(self._after),
            request_id=self._request.id,
            outcome=outcome,
        )


@frozen
class Auditor:
    """Wraps the handlers of audited rows. `now` returns seconds since the epoch."""

    trail: AuditTrail
    proxies: Proxies
    now: Callable[[], float]

    def wrap(self, row: Route, handler: Handler) -> Handler:
        """Return `handler` with a draft of the event in `request.audit`, if requests of this row are recorded."""
        is_read = row.method == "GET" and not row.changes
        if not (self.trail.reads(row.label) if is_read else row.api in (PAGES, REGISTRY)):
            return handler
        action = f"{row.method} {row.label}"

        async def run(request: Request, **parameters: Any) -> bytes | None:
            target = " ".join(
                f"{name}={recorded_text(value)}" for name, value in parameters.items() if not is_secret_name(name)
            )
            draft = request.audit = Draft(self, request, action, target)
            try:
                body = await handler(request, **parameters)
            except Exception as error:
                await draft.finish(str(getattr(error, "code", "error")), is_read=is_read)
                raise
            await draft.finish(request.errors[-1] if request.errors else DONE, is_read=is_read)
            return body

        return run


@asynccontextmanager
async def changing(request: Request, read: Callable[[], Awaitable[Values]]) -> AsyncIterator[None]:
    """Record the values that `read` returns before and after the change in this context, if the request is audited."""
    draft: Draft | None = request.audit
    if draft is None:
        yield
        return
    before = await read()
    yield
    draft.set_values(before, await read())
