"""Operator pages of webhooks: the list with the form that adds one, a webhook with its log, and a new secret."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from attrs import frozen

from ...domain.errors import DirectoryError
from ...http import Request
from ...tables import ready_lists
from ...web.operator_requests import ADMIN, OperatorRequests
from .rules import GRACE, KINDS, MAX_KEYWORDS, MAX_PATTERN, MAX_PATTERNS, Message, new_webhook
from .tables import Webhooks

if TYPE_CHECKING:
    from .sender import Sender

WEBHOOKS = f"{ADMIN}/webhooks"

SHOWN = 50
"""Attempts on the page of a webhook."""


def test_message(webhook_id: str) -> Message:
    """Return a message without changes."""
    return Message(f"msg_{webhook_id}_test_{uuid4().hex[:12]}", "test", {"message": "This is a test."})


@frozen
class WebhookPages:
    """Handles the pages of webhooks. `_open` returns them, `_new_sender` what sends tests.

    `_storage` has the adapters of all ports.
    """

    _requests: OperatorRequests
    _open: Callable[[], Awaitable[Webhooks]]
    _new_sender: Callable[[], Sender]
    _storage: Any
    _now: Callable[[], float]
    _allows_http: bool

    async def get(self, request: Request) -> bytes:
        """Return the list of webhooks, and the form that adds one."""
        member = await self._requests.member(request)
        now, webhooks = self._now(), await (await self._open()).list()
        values = {
            "rows": [(webhook, webhook.state(now)) for webhook in webhooks],
            "kinds": KINDS,
            "most_patterns": MAX_PATTERNS,
            "longest": MAX_PATTERNS * (MAX_PATTERN + 1),
            "longest_keywords": MAX_KEYWORDS,
            "lists": await ready_lists(self._storage.tables),
            "label": "",
        }
        return self._requests.page(request, member.session, "list", values)

    async def post(self, request: Request) -> bytes:
        """Add a webhook, and redirect to the page that shows its secret."""
        _, form = await self._requests.member_form(request)
        label = form.get("label", "")
        try:
            webhook = new_webhook(
                label,
                form.get("url", "").strip(),
                [kind for kind in KINDS if form.get(kind)],
                form.get("namespaces", "").split(),
                form.get("keywords", ""),
                list_name=form.get("list", ""),
                now=self._now(),
                seq=await self._storage.store.head(),
                allows_http=self._allows_http,
            )
            await (await self._open()).add(webhook)
        except DirectoryError:
            return self._requests.form_error(request, WEBHOOKS, label=label)
        return self._requests.redirect(request, f"{WEBHOOKS}/{webhook.id}/secret")

    async def get_one(self, request: Request, webhook_id: str) -> bytes:
        """Return the page of a webhook with its last messages."""
        member = await self._requests.member(request)
        webhooks = await self._open()
        webhook = await webhooks.find(webhook_id)
        values = {
            "webhook": webhook,
            "state": webhook.state(self._now()),
            "deliveries": await webhooks.deliveries(webhook_id, SHOWN),
        }
        return self._requests.page(request, member.session, "webhook", values)

    async def test(self, request: Request, webhook_id: str) -> bytes:
        """Send a test, and redirect to the page of the webhook, whose log has the result."""
        await self._requests.member_form(request)
        webhooks = await self._open()
        sender = self._new_sender()
        try:
            webhook = await webhooks.find(webhook_id)
            keys = await webhooks.secrets(webhook_id, self._now())
            sent = await sender.send(webhook.url, keys, test_message(webhook_id))
            await webhooks.log(webhook_id, sent.delivery)
        except DirectoryError:
            return self._requests.form_error(request, WEBHOOKS)
        finally:
            sender.stop()
        notice = "test_failed" if sent.delivery.error else "test_accepted"
        return self._requests.redirect(request, f"{WEBHOOKS}/{webhook_id}", notice)

    async def get_test(self, request: Request, webhook_id: str) -> bytes:
        """Redirect to the page of the webhook."""
        await self._requests.member(request)
        return self._requests.redirect(request, f"{WEBHOOKS}/{webhook_id}")

    async def rotate(self, request: Request, webhook_id: str) -> bytes:
        """Give a webhook another secret, and redirect to the page that shows it."""
        await self._requests.member_form(request)
        try:
            await (await self._open()).rotate(webhook_id, self._now())
        except DirectoryError:
            return self._requests.form_error(request, WEBHOOKS)
        return self._requests.redirect(request, f"{WEBHOOKS}/{webhook_id}/secret")

    async def secret(self, request: Request, webhook_id: str) -> bytes:
        """Return the new secret of a webhook once; afterwards a page with status 410."""
        member = await self._requests.member(request)
        webhooks = await self._open()
        webhook = await webhooks.find(webhook_id)
        # HEAD has no body, so it must not consume the secret.
        is_head = request.method == b"HEAD"
        secret = None if is_head else await webhooks.show_secret(webhook_id, self._now())
        values = {"webhook": webhook, "secret": secret, "hours": round(GRACE / 3_600)}
        status = 200 if is_head or secret is not None else 410
        return self._requests.page(request, member.session, "secret", values, status)

    async def get_remove(self, request: Request, webhook_id: str) -> bytes:
        """Return the page that asks to confirm the removal."""
        member = await self._requests.member(request)
        values = {"webhook": await (await self._open()).find(webhook_id)}
        return self._requests.page(request, member.session, "remove", values)

    async def remove(self, request: Request, webhook_id: str) -> bytes:
        """Remove a webhook, and redirect to the list."""
        await self._requests.member_form(request)
        try:
            await (await self._open()).remove(webhook_id)
        except DirectoryError:
            return self._requests.form_error(request, WEBHOOKS)
        return self._requests.redirect(request, WEBHOOKS, "removed")
