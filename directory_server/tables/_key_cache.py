"""Look-ups of keys by the digests of their secrets, and the cache of them."""

from __future__ import annotations

import math
from typing import Protocol

from attrs import frozen

from ..domain.keys import ApiKey
from ._account_rows import COUNTS
from ._tables import Row, Tables

# The last but one: the keys of a pending account share one quota, which is charged to the account.
FIELDS = """
    api_key.id, label, current.last_four, quota, api_key.created_at, api_key.expires_at, revoked_at, owner,
    (SELECT account.id FROM account WHERE account.id = owner AND approved_at IS NULL), is_subject
"""

# `last_four` is of the current secret, also while an older one is still valid.
FROM = "FROM api_key JOIN secret AS current ON current.key_id = api_key.id AND current.expires_at IS NULL"

# An access token is newer than any sign-in: its issuer has not removed the person.
LIVE = f"""
    revoked_at IS NULL AND (api_key.expires_at IS NULL OR api_key.expires_at > :now)
    AND (owner IS NULL OR EXISTS (
        SELECT 1 FROM account WHERE account.id = owner AND disabled_at IS NULL AND (is_subject OR {COUNTS})
    ))
"""

FIND_KEY = f"""
    SELECT {FIELDS}, given.expires_at,
        (SELECT renew_by FROM account WHERE account.id = owner AND NOT is_subject), (SELECT keys FROM pulse) {FROM}
    JOIN secret AS given ON given.key_id = api_key.id
    WHERE given.digest = :digest AND (given.expires_at IS NULL OR given.expires_at > :now) AND {LIVE}
"""
"""The valid key of the secret with a digest, in the columns of `found_key`."""


class KeyCache(Protocol):
    """Look-ups of secrets by their digests. `now` is in seconds since the epoch."""

    def get(self, given: bytes, now: float) -> ApiKey | None:
        """Return the cached key of a digest; None if it is not cached, or may have ended or changed since."""

    def __contains__(self, given: bytes) -> bool:
        """Return whether a digest was that of a key a short time ago."""

    async def look_up(self, given: bytes, now: float) -> ApiKey | None:
        """Return the valid key of a digest, as the database has it, None if there is none. Raises Unavailable."""


@frozen
class NoCache:
    """A KeyCache that asks the database each time, for commands."""

    _tables: Tables

    def get(self, given: bytes, now: float) -> ApiKey | None:
        return None

    def __contains__(self, given: bytes) -> bool:
        return False

    async def look_up(self, given: bytes, now: float) -> ApiKey | None:
        row = await self._tables.one(FIND_KEY, digest=given, now=now)
        return found_key(row)[0] if row else None


def found_key(row: Row) -> tuple[ApiKey, float, int]:
    """Return the key in a row of FIND_KEY, when it or its secret ends, and the counter of ended keys."""
    *fields, replaced_at, renew_by, counter = row
    key = ApiKey(*fields)
    return key, min(key.expires_at or math.inf, replaced_at or math.inf, renew_by or math.inf), counter
