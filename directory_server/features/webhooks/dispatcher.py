"""The dispatcher: one of all processes reads the change log and sends messages, in order for each webhook."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from attrs import define, evolve, field
from twisted.internet.defer import CancelledError, Deferred
from twisted.logger import Logger
from twisted.python.failure import Failure

from ...domain.changes import Change
from ...domain.errors import NotFound, Unavailable
from ...domain.ports.runtime import Offload
from ...domain.ports.search import Matching
from ...domain.ports.storage import Store
from ...domain.withholding import shown_hit
from ...serialization import restore_entry
from ...timers import Timer
from .changes import known_entries, read_changes
from .queue import Reader, WebhookQueue
from .rules import Message, Sent, Webhook, WebhookChange
from .tables import Webhooks

if TYPE_CHECKING:
    from .sender import Sender

INTERVAL = 2.0
"""Seconds between two looks for changes and due webhooks."""

LEASE = 20.0
"""Seconds for which a process may read and send without renewing its lease: longer than one message takes.

After a crash another process sends that many seconds later."""

READ, READ_BYTES, READS = 500, 4_000_000, 20
"""Changes, and about the bytes of entries, that are read at a time, and reads of one look."""

BATCH = 100
"""Changes of a message."""

SENDERS = 8
"""Webhooks that are served at a time."""

PRUNE_INTERVAL = 60.0
"""Seconds between two deletions of changes that all webhooks have received."""


@define(eq=False, repr=False)
class Dispatcher(Timer):
    """Read the change log for webhooks and send messages, unless another process does. `holder` identifies this one.

    `new_sender` is called before the first message. `matching` returns which queries an entry matches. `now` returns
    seconds since the epoch. `count` gets each attempt.
    """

    _log = Logger()

    _open: Callable[[], Deferred[Webhooks]]
    _queue: WebhookQueue
    _store: Store
    _new_sender: Callable[[], Sender]
    _matching: Matching
    _offload: Offload
    _clock: Any
    _now: Callable[[], float]
    _holder: str
    _count: Callable[[bool], None]
    _sender: Sender | None = field(default=None, init=False)
    _sending: dict[str, Deferred[None]] = field(factory=dict, init=False)
    _held_until: float = field(default=float("-inf"), init=False)
    _pruned_at: float = field(default=float("-inf"), init=False)
    known: Sequence[Webhook] = field(default=(), init=False)
    """The webhooks at the last look."""

    def __attrs_post_init__(self) -> None:
        super().__init__(INTERVAL, self._look, self._clock, finish=self._stop)

    async def _stop(self) -> None:
        for sending in list(self._sending.values()):
            sending.cancel()
        if self._sender is not None:
            self._sender.stop()
        if self._clock.seconds() < self._held_until:
            try:
                await self._queue.release(self._holder)
            except Unavailable:
                self._log.debug("The lease of webhooks ends by itself")

    async def _look(self) -> None:
        """Read new changes, and begin to send to the webhooks that are due, unless another process does."""
        webhooks = await self._open()
        self.known = await webhooks.list()
        if not self.known:
            return
        reader, log, head = await self._queue.reader(), await self._store.log_id(), await self._store.head()
        is_behind = reader.log != log or reader.seq != head or not reader.is_complete
        is_due = bool(self._sending) or any(self._is_due(webhook, reader.last) for webhook in self.known)
        if not (is_behind or is_due) or (reader.is_held and reader.holder != self._holder):
            return
        if not await self._hold():
            return
        if is_behind and await self._read(reader, log, head):
            reader = await self._queue.reader()
        for webhook in self.known:
            if self._is_due(webhook, reader.last) and len(self._sending) < SENDERS:
                self._begin(webhooks, webhook)
        if self._clock.seconds() - self._pruned_at >= PRUNE_INTERVAL:
            self._pruned_at = self._clock.seconds()
            await self._queue.prune()

    def _is_due(self, webhook: Webhook, last: int) -> bool:
        has_message = webhook.was_reset or webhook.seq < last
        return webhook.id not in self._sending and has_message and webhook.next_at <= self._now()

    async def _hold(self) -> bool:
        """Renew the lease if half of it has passed; return whether this process holds it."""
        now = self._clock.seconds()
        if now + LEASE / 2 > self._held_until:
            is_held = await self._queue.hold(self._holder, seconds=LEASE)
            self._held_until = now + LEASE if is_held else float("-inf")
        return bool(self._held_until > now)

    async def _read(self, reader: Reader, log: str, head: int) -> bool:
        """Read the log for some time; return False if another process does. Raises Unavailable."""
        seq = reader.seq
        if reader.log and (reader.log != log or not await self._store.oldest() - 1 <= seq <= head):
            # The log was replaced by a backup, or pruned: it is unknown what has changed.
            return await self._queue.reset(self._holder, log, head)
        if not reader.is_complete:
            seq = reader.seq or min(await self._queue.first(), head)
            if not await self._know_all(seq):
                return False
        for _ in range(READS):
            changes = await self._store.changes(seq, READ, READ_BYTES)
            known = await self._queue.known([change.mcp_id for change in changes])
            found = await self._offload(read_changes, changes, known)
            seq = changes[-1].seq if changes else seq
            if not await self._queue.advance(
                self._holder,
                log,
                seq,
                entries=list(found.entries.values()),
                removed=found.removed,
                changes=found.changes,
            ):
                return False
            if not changes or seq >= head or not self.running:
                break
        return True

    async def _know_all(self, seq: int) -> bool:
        """Store what is known of all entries that have not changed since `seq`; return False without the lease."""
        after = ""
        while changes := await self._store.current(after, READ, READ_BYTES):
            entries = await self._offload(known_entries, changes, seq)
            if not (await self._hold() and await self._queue.keep(self._holder, entries)):
                return False
            after = changes[-1].mcp_id
        return True

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
        while self.running and await self._hold():
            message = await self._next_message(webhook)
            if message is None:
                return
            # Also after a crash the message ends with the same change, and has the same id.
            if not await self._queue.begin(self._holder, webhook.id, message.seq):
                return
            if self._sender is None:
                self._sender = self._new_sender()
            sent = await self._sender.send(webhook.url, await webhooks.secrets(webhook.id, self._now()), message)
            self._count(not sent.delivery.error)
            if not await self._record(webhook, sent):
                return
            webhook = await webhooks.find(webhook.id)

    async def _record(self, webhook: Webhook, sent: Sent) -> bool:
        """Store what became of a message; return whether the next one may be sent."""
        delivery = sent.delivery
        if not delivery.error:
            if webhook.failing_since is not None:
                self._log.info("The webhook {label} receives messages again", label=webhook.label)
            return await self._queue.delivered(self._holder, webhook.id, delivery)
        next_at = webhook.retry_at(delivery.at, sent.retry_after)
        await self._queue.failed(self._holder, webhook.id, delivery, next_at)
        if webhook.failing_since is None:
            self._log.warn("The webhook {label} fails: {error}", label=webhook.label, error=delivery.error)
        return False

    async def _next_message(self, webhook: Webhook) -> Message | None:
        """Return the next message; None if no change is for the webhook, or the lease has ended."""
        if webhook.was_reset:
            data = {"message": "Changes were lost. Read all entries again."}
            return Message(f"msg_{webhook.id}_reset_{webhook.seq}", "reset", data, webhook.seq)
        seq = webhook.seq
        while changes := await self._queue.changes(seq, BATCH, webhook.pending):
            items = []
            for change in changes:
                if kinds := webhook.kinds_of(change):
                    item = await self._item(evolve(change, kinds=kinds), webhook.keywords)
                    items += [item] if item is not None else []
            seq = changes[-1].seq
            if items:
                return Message(f"msg_{webhook.id}_{seq}", "changes", {"changes": items}, seq, len(items))
            if not await self._queue.skip(self._holder, webhook.id, seq):
                return None
        return None

    async def _item(self, change: WebhookChange, keywords: str) -> dict[str, object] | None:
        """Return a change for a message; None if its entry does not match `keywords`."""
        found = await self._store.changes(change.seq - 1, 1)
        if not found or found[0].seq != change.seq:
            return None
        logged = found[0]
        if change.kinds == ("deleted",):
            # An entry that has left a list may be out of the receiver's sight.
            logged = evolve(logged, body=None)
        # The text of a removed entry is no longer known.
        if keywords and logged.body is not None and not await self._offload(self._matching, logged, [keywords]):
            return None
        return await self._offload(_fields, change, logged)


def _fields(change: WebhookChange, logged: Change) -> dict[str, object]:
    """Return the fields of a change, with cleaned texts."""
    fields: dict[str, object] = {"seq": change.seq, "kinds": change.kinds, "mcp_id": logged.mcp_id}
    if logged.body is None:
        return {**fields, "name": change.name}
    entry = restore_entry(logged.body)
    hit = shown_hit(entry, logged.accepted.split())
    return {
        **fields,
        "name": hit.server_name,
        "title": hit.name,
        "version": entry.version[:100],
        "brief": hit.brief,
        "website_url": hit.website_url,
        "status": hit.status,
    }
