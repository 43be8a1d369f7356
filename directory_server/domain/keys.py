"""API keys and registry tokens."""

from __future__ import annotations

from attrs import field, frozen


@frozen
class RegistryToken:
    """A token that opens the registry API from within its paths, without its secret. Times are epoch seconds."""

    id: str
    label: str
    last_four: str
    created_at: float
    revoked_at: float | None


@frozen
class ApiKey:
    """An API key as its operator sees it, without the secret.

    Times are seconds since the epoch; `limit` is requests in any 60 minutes, None for unlimited; `owner` is the id of
    the account that it belongs to, None for one that an operator made. `shared` is the id of an owner who is not
    approved, whose keys share one quota; else None.
    """

    id: str
    label: str
    last_four: str
    limit: int | None
    created_at: float
    expires_at: float | None = None
    revoked_at: float | None = None
    owner: str | None = None
    shared: str | None = None

    @property
    def quota_id(self) -> str:
        """The id that requests are charged to: the owner's while keys share a quota, else the key's own."""
        return self.shared or self.id


@frozen
class NewSecret:
    """The secret of a key that was just created, or `rotated`."""

    secret: str = field(repr=False)
    rotated: bool
