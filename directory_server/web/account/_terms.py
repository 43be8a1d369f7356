"""What pages say about the limits of an account that is not approved."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil

from ...services.user_keys import UserKeys

DAY = 86_400.0


def pending_terms(keys: UserKeys) -> Mapping[str, object]:
    """Return what the template of these limits takes: requests in any 60 minutes (or None), keys, days."""
    pending = keys.pending
    return {"limit": keys.limit, "pending_keys": pending.keys, "unused_days": ceil(pending.unused / DAY)}
