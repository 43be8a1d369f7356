"""Webhooks: values, filters, signatures and the times of retries.

Messages have the form of Standard Webhooks (github.com/standard-webhooks/standard-webhooks, specification 1.0).
"""

from __future__ import annotations

import hmac
import secrets
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from typing import Literal
from urllib.parse import urlsplit

from attrs import frozen

from ...domain.changes import Cause, Change
from ...domain.errors import BadInput, NotFound
from ...domain.keys import check_label, new_id
from ...domain.kinds import is_asked
from ...domain.notes import SENT
from ...domain.patterns import NamePatterns
from ...domain.scopes import MAX_LIST_NAME, Scope

KINDS = ("added", "changed", "deprecated", "deleted", "tools_changed", *SENT.values())

_KINDS: Mapping[Cause, tuple[str, ...]] = {
    "document": ("changed",),
    "status": ("changed", "deprecated"),
    # In the log of an older version, which did not say what has changed.
    "": ("changed",),
    **{cause: (cause,) for cause in SENT.values()},
}

MAX_WEBHOOKS = 50
"""Webhooks of a directory."""

MAX_PATTERNS, MAX_PATTERN = 20, 200
"""Patterns of names of a webhook, and characters of one."""

MAX_KEYWORDS = 256
"""Characters of the query of a webhook."""

SECRET_PREFIX = "whsec_"

SECRET_BYTES = 32

GRACE = 86_400.0
"""Seconds for which messages are also signed with the previous secret after a rotation."""

DELAYS = (10.0, 60.0, 300.0, 900.0, 1_800.0, 3_600.0, 7_200.0, 10_800.0)
"""Seconds until each retry. The last one is repeated."""

PAUSED_AFTER = 86_400.0
"""Seconds of failures after which a webhook is paused."""

PAUSED_DELAY = 21_600.0
"""Seconds between two attempts of a paused webhook."""


@frozen
class Webhook:
    """A webhook and its state, without secrets. Times are seconds since the epoch.

    It gets changes of `kinds` of names that match one of `namespaces`, if there are any, and of entries that match the
    query `keywords`, if it is not empty. With a `list` it gets changes of the entries of this list; with `has_all`
    these are all. Changes to `seq` of the log with the id `log` were delivered. `pending` is the last change of the
    message that is being sent or repeated, 0 if none is. With `was_reset` changes were lost, and the next message says
    so.
    """

    id: str
    label: str
    url: str
    kinds: tuple[str, ...]
    namespaces: tuple[str, ...]
    keywords: str
    created_at: float
    seq: int
    pending: int = 0
    was_reset: bool = False
    failures: int = 0
    failing_since: float | None = None
    next_at: float = 0.0
    delivered_at: float | None = None
    error: str = ""
    list: str = ""
    log: str = ""
    has_all: bool = False

    @property
    def scope(self) -> Scope:
        """The entries whose changes it gets."""
        return frozenset({self.list}) if self.list and not self.has_all else None

    def kinds_of(self, change: Change, status: str) -> tuple[str, ...]:
        """Return the kinds of a change as they are sent, none if it is not sent; apart from `keywords`.

        `change` is one within its scope, `status` that of its entry.
        """
        kinds: tuple[str, ...] = ("added",) if self.list in change.joined else _kinds(change, status)
        is_sent = not set(self.kinds).isdisjoint(kinds) and NamePatterns(self.namespaces).selects(change.name)
        return kinds if is_sent and is_asked(change.name, self.keywords) else ()

    def state(self, now: float) -> Literal["active", "failing", "paused"]:
        """Return whether the receiver accepts messages, fails, or has failed for so long that it is paused."""
        if self.failing_since is None:
            return "active"
        return "paused" if now - self.failing_since >= PAUSED_AFTER else "failing"

    def retry_at(self, now: float, retry_after: float) -> float:
        """Return when to try again after a failure at `now`; `retry_after` is what the receiver has asked for."""
        since = now if self.failing_since is None else self.failing_since
        delay = PAUSED_DELAY if now - since >= PAUSED_AFTER else DELAYS[min(self.failures, len(DELAYS) - 1)]
        return now + max(delay, retry_after)


@frozen
class Delivery:
    """An attempt to send a message with `changes` changes to `seq`. `status` is that of the response, 0 without one.

    `error` is empty if the receiver has accepted the message. `seconds` is the time that the attempt took.
    """

    at: float
    message: str
    seq: int
    changes: int
    status: int
    error: str
    seconds: float


@frozen
class Message:
    """A message of a `type`, with `data` for its body. `id` stays the same when the message is repeated.

    It has `changes` changes, the last of which is `seq`.
    """

    id: str
    type: str
    data: object
    seq: int = 0
    changes: int = 0


@frozen
class Sent:
    """What became of a message. `retry_after` is the seconds after which the receiver asks to try again."""

    delivery: Delivery
    retry_after: float = 0.0


def new_webhook(
    label: str,
    url: str,
    kinds: Sequence[str],
    namespaces: Sequence[str],
    keywords: str,
    *,
    list_name: str = "",
    now: float,
    seq: int,
    allows_http: bool,
) -> Webhook:
    """Return a new webhook for changes after `seq`. Raises BadInput; the message says which field is wrong."""
    label, keywords = label.strip(), keywords.strip()
    check_label(label)
    check_url(url, allows_http=allows_http)
    if unknown := set(kinds) - set(KINDS):
        raise BadInput(f"kinds: must be some of {', '.join(KINDS)}, not {min(unknown)[:50]!r}.", code="kinds_wrong")
    if len(namespaces) > MAX_PATTERNS or not all(map(_is_pattern, namespaces)):
        raise BadInput(
            f"namespaces: must be at most {MAX_PATTERNS} patterns of names such as com.example/*, each of at most "
            f"{MAX_PATTERN} printable characters without spaces.",
            code="namespaces_wrong",
        )
    if len(keywords) > MAX_KEYWORDS or not (keywords.isprintable() or not keywords):
        raise BadInput(f"keywords: must be at most {MAX_KEYWORDS} printable characters.", code="keywords_wrong")
    selected = tuple(kind for kind in KINDS if not kinds or kind in kinds)
    patterns = tuple(dict.fromkeys(namespaces))
    return Webhook(new_id(), label, url, selected, patterns, keywords, now, seq, list=list_name)


def _kinds(change: Change, status: str) -> tuple[str, ...]:
    if change.kind == "removed":
        return ("deleted",)
    if change.body is None:
        # Its entry was removed since: a later change says so.
        return ()
    if change.kind == "added":
        return ("added", "deprecated") if status == "deprecated" else ("added",)
    if change.kind == "tools_changed":
        return ("tools_changed",)
    return _KINDS.get(change.cause, ())


def wrong_list(name: str) -> BadInput:
    """Return the error for a list that there is not."""
    return BadInput(f"list: there is no list {name[:MAX_LIST_NAME]!r}.", code="list_unknown")


def _is_pattern(text: str) -> bool:
    return 0 < len(text) <= MAX_PATTERN and text.isprintable() and " " not in text


def check_url(url: str, *, allows_http: bool) -> None:
    """Raise BadInput for a URL that cannot receive messages. Its address is checked before each message."""
    # The HTTP client takes 3 MB and .1 seconds.
    from ...http_client import InvalidTarget, NotAllowed, target_of

    try:
        target_of(url)
    except (InvalidTarget, NotAllowed) as error:
        raise BadInput(f"url: {error.message}", code="url_wrong") from None
    if urlsplit(url).scheme != "https" and not allows_http:
        raise BadInput(
            "url: must begin with https://. http is allowed with webhooks.allowed_networks.", code="url_wrong"
        )


def unknown_webhook(webhook_id: str) -> NotFound:
    """Return the error for an unknown id."""
    return NotFound(f"No webhook has the id {webhook_id[:20]!r}.")


def new_secret() -> str:
    """Return a random secret."""
    return SECRET_PREFIX + b64encode(secrets.token_bytes(SECRET_BYTES)).decode()


def signature(keys: Sequence[str], message: str, timestamp: int, body: bytes) -> str:
    """Return the header `webhook-signature`: an HMAC-SHA256 of id, time and body for each secret of `keys`."""
    content = b"%s.%d.%s" % (message.encode(), timestamp, body)
    digests = (hmac.digest(b64decode(key.removeprefix(SECRET_PREFIX)), content, "sha256") for key in keys)
    return " ".join(f"v1,{b64encode(digest).decode()}" for digest in digests)
