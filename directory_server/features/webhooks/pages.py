"""Operator pages of webhooks: the list with the form that adds one, a webhook with its log, and a new secret."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from attrs import frozen

from ...domain.keys import NewSecret
from ...http import Request
from ...tables import ready_lists
from ...web.account import Next, Sent, form, page, shown_once
from ...web.operator_requests import ADMIN, OperatorRequests
from ...web.parts import Kernel
from .rules import GRACE, KINDS, MAX_KEYWORDS, MAX_PATTERN, MAX_PATTERNS, Delivery, Message, new_webhook
from .service import new_sender, open_webhooks
from .tables import Webhooks

if TYPE_CHECKING:
    from .sender import Sender

WEBHOOKS = f"{ADMIN}/webhooks"

SHOWN = 50
"""Attempts on the page of a webhook."""


async def send_test(webhooks: Webhooks, webhook_id: str, sender: Sender, now: float) -> Delivery:
    """Send a message without changes to a webhook, log it, and stop the sender; return its delivery."""
    message = Message(f"msg_{webhook_id}_test_{uuid4().hex[:12]}", "test", {"message": "This is a test."})
    try:
        webhook = await webhooks.find(webhook_id)
        sent = await sender.send(webhook.url, await webhooks.secrets(webhook_id, now), message)
    finally:
        sender.stop()
    await webhooks.log(webhook_id, sent.delivery)
    return sent.delivery


@frozen
class WebhookPages:
    """Handles the pages of webhooks."""

    _requests: OperatorRequests
    _kernel: Kernel
    _allows_http: bool

    async def _open(self) -> Webhooks:
        return await open_webhooks(self._kernel.storage)

    @page("list")
    async def get(self, sent: Sent) -> Mapping[str, Any]:
        """Return the list of webhooks, and the form that adds one."""
        now, webhooks = self._kernel.now(), await (await self._open()).list()
        return {
            "rows": [(webhook, webhook.state(now)) for webhook in webhooks],
            "kinds": KINDS,
            "most_patterns": MAX_PATTERNS,
            "longest": MAX_PATTERNS * (MAX_PATTERN + 1),
            "longest_keywords": MAX_KEYWORDS,
            "lists": await ready_lists(self._kernel.storage.tables),
            "label": "",
        }

    @form(WEBHOOKS, "label")
    async def post(self, sent: Sent) -> Next:
        """Add a webhook, and go to the page that shows its secret."""
        webhook = new_webhook(
            sent.fields.get("label", ""),
            sent.text("url"),
            [kind for kind in KINDS if sent.fields.get(kind)],
            sent.text("namespaces").split(),
            sent.fields.get("keywords", ""),
            list_name=sent.fields.get("list", ""),
            now=self._kernel.now(),
            seq=await self._kernel.storage.store.head(),
            allows_http=self._allows_http,
        )
        return await self._show(sent, webhook.id, await (await self._open()).add(webhook))

    @page("webhook")
    async def get_one(self, sent: Sent, webhook_id: str) -> Mapping[str, Any]:
        """Return the page of a webhook with its last messages."""
        webhooks = await self._open()
        webhook = await webhooks.find(webhook_id)
        deliveries = await webhooks.deliveries(webhook_id, SHOWN)
        return {"webhook": webhook, "state": webhook.state(self._kernel.now()), "deliveries": deliveries}

    @form(WEBHOOKS)
    async def test(self, sent: Sent, webhook_id: str) -> Next:
        """Send a test, and go to the page of the webhook, whose log has the result."""
        kernel = self._kernel
        sender = new_sender(kernel.config, kernel.reactor, kernel.now)
        delivery = await send_test(await self._open(), webhook_id, sender, kernel.now())
        return Next(f"{WEBHOOKS}/{webhook_id}", "test_failed" if delivery.error else "test_accepted")

    async def get_test(self, request: Request, webhook_id: str) -> bytes:
        """Redirect to the page of the webhook."""
        await self._requests.member(request)
        return self._requests.redirect(request, f"{WEBHOOKS}/{webhook_id}")

    @form(WEBHOOKS)
    async def rotate(self, sent: Sent, webhook_id: str) -> Next:
        """Give a webhook another secret, and go to the page that shows it."""
        secret = await (await self._open()).rotate(webhook_id, self._kernel.now())
        return await self._show(sent, webhook_id, secret)

    async def _show(self, sent: Sent, webhook_id: str, secret: str) -> Next:
        """Return the page that shows a new secret to this session, once."""
        new = NewSecret(secret, rotated=False)
        await self._kernel.storage.new_secrets.put(sent.member.session.identifier, webhook_id, new)
        return Next(f"{WEBHOOKS}/{webhook_id}/secret")

    async def secret(self, request: Request, webhook_id: str) -> bytes:
        """Return the new secret of a webhook once, to the session that made it; else a page with status 410."""
        member = await self._requests.member(request)
        webhook = await (await self._open()).find(webhook_id)
        new, status = await shown_once(request, member, self._kernel.storage.new_secrets, webhook.id)
        values = {"webhook": webhook, "secret": new and new.secret, "hours": round(GRACE / 3_600)}
        return self._requests.page(request, member.session, "secret", values, status)

    @page("remove")
    async def get_remove(self, sent: Sent, webhook_id: str) -> Mapping[str, Any]:
        """Return the page that asks to confirm the removal."""
        return {"webhook": await (await self._open()).find(webhook_id)}

    @form(WEBHOOKS)
    async def remove(self, sent: Sent, webhook_id: str) -> Next:
        """Remove a webhook, and go to the list."""
        await (await self._open()).remove(webhook_id)
        return Next(WEBHOOKS, "removed")
