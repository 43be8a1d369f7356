"""Limits of accounts that are not approved, as template values."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil

from ...services.user_keys import UserKeys

DAY = 86_400.0


def pending_limits(keys: UserKeys) -> Mapping[str, object]:
    """Return the template values: requests in any 60 minutes (None: no limit), keys, days until deletion."""
    pending = keys.pending
    return {"limit": keys.limit, "pending_keys": pending.keys, "unused_days": ceil(pending.unused / DAY)}
