"""User accounts."""

from __future__ import annotations

from attrs import field, frozen


@frozen
class Account:
    """A user account, which may own API keys. Times are seconds since the epoch.

    `active` is whether the account has a password. `approved` is whether the operator created or approved the account.
    A self-registered account is pending until then.
    """

    id: str
    email: str
    created_at: float
    active: bool = field(converter=bool)
    disabled_at: float | None = None
    approved: bool = field(converter=bool, default=True)
