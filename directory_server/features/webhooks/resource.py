"""Webhooks for operators: the declaration of their pages and of `directory-server webhook`."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import asdict
from attrs.filters import exclude

from ...resource import Action, Asked, Done, Facts, Field, Parts, Resource
from ...tables import ready_lists
from .rules import GRACE, KINDS, MAX_KEYWORDS, MAX_PATTERN, MAX_PATTERNS, Webhook, new_webhook
from .service import new_sender, open_webhooks, send_test
from .settings import WebhooksConfig
from .tables import MAX_DELIVERIES, count_paused

_HIDDEN = exclude("seq", "log", "pending", "was_reset", "failures", "next_at", "has_all")


async def _add(
    parts: Parts, url: str, label: str, kinds: Sequence[str], namespaces: Sequence[str], keywords: str, list: str
) -> Done:
    webhook = new_webhook(
        label,
        url,
        kinds,
        namespaces,
        keywords,
        list_name=list,
        now=parts.now(),
        seq=await parts.storage.store.head(),
        allows_http=bool(parts.config.of(WebhooksConfig).allowed_networks),
    )
    return Done(webhook.id, secret=await (await open_webhooks(parts.storage)).add(webhook))


async def _test(parts: Parts, webhook_id: str) -> Done:
    sender = new_sender(parts.config, parts.reactor, parts.now)
    delivery = await send_test(await open_webhooks(parts.storage), webhook_id, sender, parts.now())
    if delivery.error:
        return Done(notice="test_failed", line=f"Not accepted: {delivery.error}", has_failed=True)
    return Done(line=f"Accepted with status {delivery.status} after {delivery.seconds:.2f} seconds.", is_output=True)


async def _rotate(parts: Parts, webhook_id: str) -> Done:
    secret = await (await open_webhooks(parts.storage)).rotate(webhook_id, parts.now())
    line = f"The previous secret of webhook {webhook_id} ends in {GRACE / 3_600:g} hours. The new one:"
    return Done(secret=secret, line=line)


async def _remove(parts: Parts, webhook_id: str) -> None:
    await (await open_webhooks(parts.storage)).remove(webhook_id)


async def _list(parts: Parts, asked: Asked) -> Sequence[Webhook]:
    return await (await open_webhooks(parts.storage)).list()


async def _find(parts: Parts, webhook_id: str) -> Webhook:
    return await (await open_webhooks(parts.storage)).find(webhook_id)


def _facts(parts: Parts, webhook: Webhook) -> Facts:
    return {**asdict(webhook, filter=_HIDDEN), "state": webhook.state(parts.now())}


async def _log(parts: Parts, webhook_id: str, limit: int) -> Sequence[Facts]:
    deliveries = await (await open_webhooks(parts.storage)).deliveries(webhook_id, limit)
    return [{"sent_at": delivery.at, **asdict(delivery, filter=exclude("at", "seq"))} for delivery in deliveries]


WEBHOOKS = Resource(
    name="webhooks",
    command="webhook",
    noun="webhook",
    group="server",
    texts="webhooks",
    list=_list,
    find=_find,
    facts=_facts,
    columns=("label", "url", "kinds", "namespaces", "keywords", "list", "delivered_at", "state", "error"),
    has_secret=True,
    add=Action(
        "add",
        "Add a webhook for later changes, and print its secret to standard output. The secret is shown only once.",
        _add,
        fields=(
            Field("label", "Owner or purpose of the receiver.", is_required=True),
            Field("url", kind="url", longest=2_000, is_required=True, is_argument=True),
            Field("kinds", "Kind of changes; by default all.", "many", choices=KINDS, option="kind"),
            Field(
                "namespaces",
                "Names such as com.example/*; by default all.",
                "words",
                MAX_PATTERNS * (MAX_PATTERN + 1),
                option="namespace",
                count=MAX_PATTERNS,
            ),
            Field("keywords", "Query that entries must match, with filters as in a search.", longest=MAX_KEYWORDS),
            Field(
                "list",
                "List whose entries it is for; by default all entries.",
                "choice",
                choose=lambda parts: ready_lists(parts.storage.tables),
            ),
        ),
    ),
    actions=(
        Action(
            "test",
            "Send a message without changes. The exit code is 1 if the receiver does not accept it.",
            _test,
            in_reactor=True,
        ),
        Action(
            "rotate",
            "Print a new secret to standard output. For a day, messages are also signed with the previous one.",
            _rotate,
        ),
        Action(
            "remove",
            "Remove a webhook and the log of its messages.",
            _remove,
            done="is removed",
            confirms=True,
            ends=True,
        ),
    ),
    log=_log,
    logged=("sent_at", "message", "changes", "status", "seconds", "error"),
    longest_log=MAX_DELIVERIES,
    waiting=lambda storage: count_paused(storage.tables),
)
