"""The data that in-memory adapters share."""

from __future__ import annotations

from attrs import define, field

from ..domain.accounts import Account
from ..domain.keys import ApiKey, NewSecret, RegistryToken


@define
class AccountRow:
    """A stored account. Times are seconds since the epoch."""

    id: str
    email: str
    password: str | None
    created_at: float
    approved_at: float | None
    disabled_at: float | None = None
    seen_at: float = 0.0

    @property
    def account(self) -> Account:
        """The account as the port returns it."""
        return Account(
            self.id,
            self.email,
            self.created_at,
            self.password is not None,
            self.disabled_at,
            self.approved_at is not None,
        )


@define
class SecretRow:
    """A stored secret of a key, which ends at `expires_at`."""

    key_id: str
    expires_at: float | None = None


@define
class SessionRow:
    """A stored session of an account."""

    account_id: str
    created_at: float
    seen_at: float


@define
class LinkRow:
    """A stored link to set the password of an account."""

    account_id: str
    expires_at: float


@define(eq=False)
class AccessData:
    """Accounts, sessions, links, keys and tokens. Adapters with the same data act as processes with one database.

    Accounts, keys and tokens are stored by id, all others by the digests of their secrets.
    """

    accounts: dict[str, AccountRow] = field(factory=dict)
    sessions: dict[bytes, SessionRow] = field(factory=dict)
    links: dict[bytes, LinkRow] = field(factory=dict)
    keys: dict[str, ApiKey] = field(factory=dict)
    secrets: dict[bytes, SecretRow] = field(factory=dict)
    new_secrets: dict[tuple[bytes, str], tuple[NewSecret, float]] = field(factory=dict)
    tokens: dict[str, RegistryToken] = field(factory=dict)
    token_ids: dict[bytes, str] = field(factory=dict)
