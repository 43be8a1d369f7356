"""The value that stands for a person; `model` has it."""

from __future__ import annotations

from attrs import field, frozen


@frozen
class Account:
    """A person who may have API keys; `active` once there is a password. Times are seconds since the epoch."""

    id: str
    email: str
    created_at: float
    active: bool = field(converter=bool)
    disabled_at: float | None = None
