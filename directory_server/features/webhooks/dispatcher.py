"""The dispatcher: one of all processes sends what is new in the change log to each webhook, in order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

from attrs import define, field
from twisted.internet.defer import CancelledError, Deferred
from twisted.logger import Logger
from twisted.python.failure import Failure

from ...domain.changes import Change
from ...domain.errors import NotFound, Unavailable
from ...domain.notes import missing_packages
from ...domain.ports.runtime import Offload
from ...domain.ports.search import Matching
from ...domain.ports.storage import Store
from ...domain.withholding import shown_hit
from ...serialization import restore_entry
from ...services.follower import LeasedTimer
from ...tables import StoredFollowers
from .rules import Message, Sent, Webhook
from .tables import Webhooks

if TYPE_CHECKING:
    from .sender import Sender

INTERVAL = 2.0
"""Seconds between two looks for changes and due webhooks."""

LEASE = 20.0
"""Seconds for which a process may send without renewing its lease: longer than one message takes.

After a crash another process sends that many seconds later."""

READ, READ_BYTES = 500, 4_000_000
"""Changes, and about the bytes of entries, that are read at a time."""

BATCH = 100
"""Changes of a message."""

SENDERS = 8
"""Webhooks that are served at a time."""

Items = list[dict[str, object]]
"""Changes of a message."""


@define(eq=False, repr=False)
class Dispatcher(LeasedTimer):
    """Send messages, unless another process does.

    `new_sender` is called before the first message. `matching` returns which queries an entry matches. `now` returns
    seconds since the epoch. `count` gets each attempt.
    """

    _log = Logger()

    _open: Callable[[], Deferred[Webhooks]]
    _store: Store
    _followers: StoredFollowers
    _new_sender: Callable[[], Sender]
    _matching: Matching
    _offload: Offload
    _clock: Any
    _now: Callable[[], float]
    _count: Callable[[bool], None]
    _sender: Sender | None = field(default=None, init=False)
    _sending: dict[str, Deferred[None]] = field(factory=dict, init=False)
    _due: Sequence[Webhook] = field(default=(), init=False)
    known: Sequence[Webhook] = field(default=(), init=False)
    """The webhooks at the last look."""

    def __attrs_post_init__(self) -> None:
        super().__init__(self._followers, self._clock, "webhooks", self._begin_due, seconds=LEASE, interval=INTERVAL)

    async def update(self) -> None:
        """Begin to send to the webhooks that are due. Without any, nothing is read of the log."""
        self.known = await (await self._open()).list()
        if not self.known:
            return
        log, head = await self._store.log_id(), await self._store.head()
        self._due = [
            webhook
            for webhook in self.known
            if webhook.id not in self._sending
            and (webhook.was_reset or (webhook.log, webhook.seq) != (log, head))
            and webhook.next_at <= self._now()
        ]
        if self._due or self._sending:
            await super().update()

    async def release(self) -> None:
        """Cancel what is being sent, and release the lease."""
        for sending in list(self._sending.values()):
            sending.cancel()
        if self._sender is not None:
            self._sender.stop()
        await super().release()

    async def _begin_due(self) -> None:
        webhooks = await self._open()
        for webhook in self._due:
            if len(self._sending) < SENDERS:
                self._begin(webhooks, webhook)

    def _begin(self, webhooks: Webhooks, webhook: Webhook) -> None:
        def ended(result: Failure | None) -> None:
            self._sending.pop(webhook.id, None)
            if result is not None and not result.check(CancelledError, Unavailable, NotFound):
                self._log.failure("Messages of the webhook {id} could not be sent", failure=result, id=webhook.id)

        sending = self._sending[webhook.id] = Deferred.fromCoroutine(self._send(webhooks, webhook))
        if not sending.called:
            sending.addBoth(ended)
        else:
            self._sending.pop(webhook.id)
            sending.addErrback(ended)

    async def _send(self, webhooks: Webhooks, webhook: Webhook) -> None:
        """Send the messages of a webhook until there is none, or one fails, or the lease has ended."""
        while await self.hold():
            log, head = await self._store.log_id(), await self._store.head()
            if webhook.log != log or not await self._store.oldest() - 1 <= webhook.seq <= head:
                # The log was replaced by a backup: it is unknown what has changed.
                await webhooks.reset(webhook, log, head)
                webhook = await webhooks.find(webhook.id)
            message, seq = await self._next_message(webhook, head)
            if message is None:
                await webhooks.skip(webhook, seq)
                return
            # Also after a crash the message ends with the same change, and has the same id.
            if not await webhooks.begin(webhook, message.seq):
                return
            if self._sender is None:
                self._sender = self._new_sender()
            sent = await self._sender.send(webhook.url, await webhooks.secrets(webhook.id, self._now()), message)
            self._count(not sent.delivery.error)
            if not await self._record(webhooks, webhook, sent):
                return
            webhook = await webhooks.find(webhook.id)

    async def _record(self, webhooks: Webhooks, webhook: Webhook, sent: Sent) -> bool:
        """Store what became of a message; return whether the next one may be sent."""
        delivery = sent.delivery
        is_recorded = await webhooks.record(webhook, delivery, webhook.retry_at(delivery.at, sent.retry_after))
        if not delivery.error and webhook.failing_since is not None:
            self._log.info("The webhook {label} receives messages again", label=webhook.label)
        if delivery.error and webhook.failing_since is None:
            self._log.warn("The webhook {label} fails: {error}", label=webhook.label, error=delivery.error)
        return is_recorded and not delivery.error

    async def _next_message(self, webhook: Webhook, head: int) -> tuple[Message | None, int]:
        """Return the next message, None if no change to `head` is for the webhook, and the last change that it read."""
        if webhook.was_reset:
            data = {"message": "Changes were lost. Read all entries again."}
            return Message(f"msg_{webhook.id}_reset_{webhook.seq}", "reset", data, webhook.seq), webhook.seq
        store, items, seq, until = self._store.within(webhook.scope), Items(), webhook.seq, webhook.pending or head
        while seq < until and (webhook.pending or not items) and await self.hold():
            changes = [each for each in await store.changes(seq, READ, READ_BYTES) if each.seq <= until]
            items += await self._offload(_items, webhook, self._matching, changes)
            seq = changes[-1].seq if changes else until
        if len(items) > BATCH and not webhook.pending:
            items = items[:BATCH]
            seq = cast(int, items[-1]["seq"])
        message = Message(f"msg_{webhook.id}_{seq}", "changes", {"changes": items}, seq, len(items)) if items else None
        return message, seq


def _items(webhook: Webhook, matching: Matching, changes: Sequence[Change]) -> Items:
    """Return those of `changes` that are for a webhook, with cleaned texts."""
    items = Items()
    for change in changes:
        # Most changes of a long log need not be decoded: with this status an entry has the most kinds.
        if not webhook.kinds_of(change, "deprecated"):
            continue
        entry = None if change.body is None else restore_entry(change.body)
        kinds = webhook.kinds_of(change, "" if entry is None else entry.status)
        # The text of a removed entry is no longer known.
        if not kinds or (webhook.keywords and entry is not None and not matching(change, [webhook.keywords])):
            continue
        fields: dict[str, object] = {"seq": change.seq, "kinds": kinds, "mcp_id": change.mcp_id, "name": change.name}
        if entry is not None:
            hit = shown_hit(entry, change.accepted)
            fields |= {"name": hit.server_name, "title": hit.name, "version": entry.version[:100], "brief": hit.brief}
            fields |= {"website_url": hit.website_url, "status": hit.status}
            if change.cause == "package":
                fields["missing"] = missing_packages(change.notes)
            if change.ending is not None:
                view = change.ending.view()
                fields["ends"] = view if webhook.scope is None else view.alone()
        items.append(fields)
    return items
