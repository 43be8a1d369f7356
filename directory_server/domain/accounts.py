"""Accounts of people."""

from __future__ import annotations

from attrs import field, frozen


@frozen
class Account:
    """A person who may have API keys; `active` once there is a password. Times are seconds since the epoch.

    `approved` is whether the operator created or approved the account. One that registered by itself is pending.
    """

    id: str
    email: str
    created_at: float
    active: bool = field(converter=bool)
    disabled_at: float | None = None
    approved: bool = field(converter=bool, default=True)
