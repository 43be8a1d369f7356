"""API keys for operators: the declaration of their pages and of `directory-server key`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from attrs import frozen

from ...config.units import parse_duration
from ...domain.errors import BadInput, NotFound
from ...domain.keys import limit_of
from ...domain.roster import ListedKey
from ...resource import DURATION, EXPIRES, Action, Asked, Done, Facts, Field, Parts, Resource, expiry

if TYPE_CHECKING:
    from ...feature.server import Server

UNLIMITED = "unlimited"


@frozen
class UsedKey:
    """A key with the requests that it has used in 60 minutes and its last use, None if they were not read."""

    listed: ListedKey
    used: int | None = None
    last_used: float | None = None

    @property
    def number(self) -> int:
        return self.listed.number


async def _used(parts: Parts, listed: ListedKey) -> UsedKey:
    key, use, quota = listed.key, listed.use, parts.storage.people.quota
    left = await quota.peek(key.quota_id, key.limit)
    # A use is written every few minutes, a charge at once. Keys that share a quota have the charges of all of them.
    charged = await quota.last(key.quota_id) if key.shared is None else None
    last = max(filter(None, (use.at if use else None, charged)), default=None)
    return UsedKey(listed, None if left.limit is None or left.remaining is None else left.limit - left.remaining, last)


async def _list(parts: Parts, asked: Asked) -> Sequence[UsedKey]:
    return [*map(UsedKey, await parts.storage.people.roster.keys(asked.text, after=asked.after, limit=asked.limit))]


async def _every(parts: Parts, after: int, limit: int) -> Sequence[UsedKey]:
    keys = await parts.storage.people.roster.all_keys(after=after, limit=limit)
    return [await _used(parts, listed) for listed in keys]


async def _find(parts: Parts, key_id: str) -> UsedKey:
    listed: ListedKey | None = await parts.storage.people.roster.key(key_id)
    if listed is None:
        raise NotFound(f"No key has the id {key_id[:20]!r}.")
    return await _used(parts, listed)


def _facts(parts: Parts, record: UsedKey) -> Facts:
    key, use = record.listed.key, record.listed.use
    return {
        "id": key.id,
        "label": key.label,
        "last_four": key.last_four,
        "used": record.used,
        "limit": key.limit,
        "created_at": key.created_at,
        "expires_at": key.expires_at,
        "revoked_at": key.revoked_at,
        "state": "revoked" if key.revoked_at is not None else "expired" if key.has_expired(parts.now()) else "valid",
        "owner": record.listed.email or None,
        "last_used_at": record.last_used,
        "network": use.client.network if use else "",
        "client": use.client.name if use else "",
    }


async def _shown(server: Server, record: UsedKey) -> Mapping[str, Any]:
    """Return what features show of a key, and whether it shares the quota of its account."""
    from ...web.pages import KEY_PARTS, read_key_parts

    key = record.listed.key
    parts = await read_key_parts(server.all(KEY_PARTS), server.storage, server.now(), [key.id])
    return {"key_id": key.id, "key_parts": parts, "is_shared": key.shared is not None}


def _limit(text: str) -> int | None:
    return None if text.strip() == UNLIMITED else limit_of(text, or_unlimited=True)


async def _create(parts: Parts, label: str, limit: str | None, expires: str) -> Done:
    chosen = parts.config.quota.limit if not limit else _limit(limit)
    key, secret = await parts.storage.people.keys.create(label, limit=chosen, expires_at=expiry(expires, parts.now()))
    return Done(key.id, secret=secret)


async def _set_limit(parts: Parts, key_id: str, limit: str) -> Done:
    if parts.is_own((await _find(parts, key_id)).listed.key.owner):
        # A stolen session could create a key, raise its limit, and use it after the session has ended.
        raise BadInput("You cannot change the limit of a key of your own account.", code="own_key")
    await parts.storage.people.keys.set_limit(key_id, _limit(limit))
    return Done(line=f"Key {key_id} has the limit {limit}.")


async def _rotate(parts: Parts, key_id: str, grace: str | None) -> Done:
    if grace and grace != "0" and not DURATION.fullmatch(grace):
        raise BadInput("grace: must be a duration such as 30d, 12h, 15m or 30s, or 0.")
    seconds = parse_duration(grace) if grace else parts.config.keys.grace
    _, secret = await parts.storage.people.keys.rotate(key_id, grace=seconds)
    return Done(secret=secret)


def _is_of_others(parts: Parts, facts: Facts) -> bool:
    return parts.account is None or parts.account.email != facts["owner"]


_LIMIT = Field("limit", longest=12, is_required=True, is_argument=True)

KEYS = Resource(
    name="keys",
    command="key",
    noun="key",
    group="access",
    texts="operators.key",
    list=_list,
    every=_every,
    find=_find,
    facts=_facts,
    columns=(
        *("label", "last_four", "used", "limit", "created_at", "expires_at", "state", "owner", "last_used_at"),
        *("client", "network"),
    ),
    links={"owner": "/admin/accounts/{owner}"},
    nothing={"limit": UNLIMITED},
    searches=True,
    template="operators/_key.html",
    extra=_shown,
    add=Action(
        "create",
        "Create a key and print its secret to standard output. The secret is shown only once.",
        _create,
        fields=(
            Field("label", "Owner or purpose of the key.", is_required=True),
            Field("limit", "Requests in any 60 minutes, or 'unlimited'.  [default: the setting quota.limit]"),
            EXPIRES,
        ),
        place="command",
    ),
    actions=(
        Action(
            "limit",
            "Change the LIMIT of a key: requests in any 60 minutes, or 'unlimited'. It counts within a second.",
            _set_limit,
            fields=(_LIMIT,),
            allows=_is_of_others,
            values=lambda parts, facts: {"limit": UNLIMITED if facts["limit"] is None else str(facts["limit"])},
        ),
        Action(
            "revoke",
            "Revoke a key. A running server rejects it and ends its streams within a second.",
            lambda parts, key_id: parts.storage.people.keys.revoke(key_id),
            done="is revoked",
            confirms=True,
            ends=True,
        ),
        Action(
            "rotate",
            "Replace the secret of a key and print the new one, once. Quota and sessions are kept.",
            _rotate,
            fields=(
                Field("grace", "How long the old secret stays valid (1d, 0m).  [default: the setting keys.grace]"),
            ),
            place="command",
        ),
    ),
)
