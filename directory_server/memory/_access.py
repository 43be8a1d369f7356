"""The data in memory that all adapters of access share: keys, accounts, sessions, links and tokens."""

from __future__ import annotations

from attrs import define, field

from ..domain.accounts import Account, Role
from ..domain.clients import UNKNOWN, Client
from ..domain.keys import ApiKey, KeyUse, NewSecret, RegistryToken
from ..domain.publishers import Publication, PublisherToken


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
    role: Role = "member"

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
            self.role,
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
    client: Client = UNKNOWN


@define
class LinkRow:
    """A stored link to set the password of an account."""

    account_id: str
    expires_at: float


@define(eq=False)
class AccessData:
    """Accounts, sessions, links, keys and tokens. Adapters with the same data act as processes with one database.

    Accounts, keys, uses of keys and tokens are stored by id, all others by the digests of their secrets. `deleted_keys`
    has the times at which keys were deleted with their account. `published` is the number of the last publication.
    """

    accounts: dict[str, AccountRow] = field(factory=dict)
    sessions: dict[bytes, SessionRow] = field(factory=dict)
    links: dict[bytes, LinkRow] = field(factory=dict)
    keys: dict[str, ApiKey] = field(factory=dict)
    deleted_keys: dict[str, float] = field(factory=dict)
    key_uses: dict[str, KeyUse] = field(factory=dict)
    secrets: dict[bytes, SecretRow] = field(factory=dict)
    new_secrets: dict[tuple[bytes, str], tuple[NewSecret, float]] = field(factory=dict)
    tokens: dict[str, RegistryToken] = field(factory=dict)
    token_ids: dict[bytes, str] = field(factory=dict)
    publishers: dict[str, PublisherToken] = field(factory=dict)
    publisher_ids: dict[bytes, str] = field(factory=dict)
    publications: dict[int, Publication] = field(factory=dict)
    published: int = 0
