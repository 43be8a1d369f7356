"""API keys, their clients, and registry tokens: values, rules, and random secrets with their digests."""

from __future__ import annotations

import math
import re
import secrets
import string
from hashlib import sha256
from typing import TypeVar
from zlib import crc32

from attrs import field, frozen

from ..texts.sanitize import without_stacks
from .errors import BadInput

MAX_LABEL = 100
"""Characters of the label of a key or token."""

MAX_LIMIT = 1_000_000_000
"""The highest limit of a key, in requests per 60 minutes."""

NEW_SECRET_LIFETIME = 300.0
"""Seconds for which the new secret of a key is stored for the page that shows it."""

CACHED = 100_000
"""The most secrets in the cache of look-ups of a process: 55 MB."""

COUNTED_AFTER_END = 3600.0
"""Seconds for which an ended key still counts against its owner's limit, so that replacing keys yields no quota."""

K = TypeVar("K")
V = TypeVar("V")


@frozen
class RegistryToken:
    """A token for the registry API, without its secret. Clients send it in the path. Times are epoch seconds."""

    id: str
    label: str
    last_four: str
    created_at: float
    revoked_at: float | None


@frozen
class ApiKey:
    """An API key, without its secret.

    Times are seconds since the epoch. `limit` is in requests per 60 minutes, None for unlimited. `owner` is the id of
    the owning account, None for a key of the operator. `shared` is the id of the owner if that account is pending and
    its keys share one quota, else None. `is_subject` is whether the key has no secret: clients of one subject
    authenticate with access tokens of an issuer.
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
    is_subject: bool = field(converter=bool, default=False)

    @property
    def quota_id(self) -> str:
        """The id that requests are charged to: the owner's if its keys share a quota, else the key's."""
        return self.shared or self.id

    @property
    def client_id(self) -> str:
        """The id of the client: the owner's, whose keys count as one client, or else the key's."""
        return self.owner or self.id

    @property
    def ended_at(self) -> float:
        """When the key was revoked or expires, whichever is first; infinity if neither."""
        return min(_or_never(self.revoked_at), _or_never(self.expires_at))

    def has_expired(self, now: float) -> bool:
        """Return whether the key has expired at `now`."""
        return self.expires_at is not None and self.expires_at <= now

    def counts_at(self, now: float) -> bool:
        """Return whether the key counts against the limit of its owner."""
        return self.ended_at > now - COUNTED_AFTER_END


@frozen
class KeyUse:
    """The last use of a key: its time in seconds since the epoch, and the client."""

    key_id: str
    at: float
    client: Client


@frozen
class NewSecret:
    """The secret of a key or webhook that was just created or `rotated`."""

    secret: str = field(repr=False)
    rotated: bool


def check_label(label: str) -> None:
    """Raise BadInput for an invalid label of a key or token."""
    if not label.strip() or len(label) > MAX_LABEL or not label.isprintable() or without_stacks(label) != label:
        raise BadInput(f"label: must be 1 to {MAX_LABEL} printable characters.", code="label_wrong")


def check_limit(limit: int | None) -> None:
    """Raise BadInput for an invalid limit of a key; None is unlimited."""
    if limit is not None and not 1 <= limit <= MAX_LIMIT:
        raise BadInput(f"limit: must be 1 to {MAX_LIMIT:,} requests in any 60 minutes, or unlimited, not {limit}.")


def check_expiry(expires_at: float | None, now: float) -> None:
    """Raise BadInput for an expiry time that is not in the future; None is no expiry."""
    if expires_at is not None and not now < expires_at < math.inf:
        raise BadInput("expires_at: must be in the future.")


def limit_of(text: str, *, or_unlimited: bool = False) -> int:
    """Return the limit in a form. Raises BadInput; its message says whether the limit may be "unlimited"."""
    digits = text.strip()
    is_number = digits.isascii() and digits.isdecimal() and len(digits) <= len(str(MAX_LIMIT))
    if not is_number or not 1 <= int(digits) <= MAX_LIMIT:
        other = ", or 'unlimited'" if or_unlimited else ""
        raise BadInput(f"limit: must be a whole number from 1 to {MAX_LIMIT:,}{other}.", code="limit_wrong")
    return int(digits)


def check_new_key(label: str, limit: int | None, expires_at: float | None, now: float) -> None:
    """Raise BadInput for an invalid label, limit or expiry of a key that is created at `now`."""
    check_label(label)
    check_limit(limit)
    check_expiry(expires_at, now)


def check_grace(grace: float) -> None:
    """Raise BadInput for an invalid number of seconds for which a rotated secret stays valid."""
    if not 0 <= grace < math.inf:
        raise BadInput("grace: must be 0 or more seconds.")


def check_rotation(key: ApiKey, now: float) -> None:
    """Raise BadInput if `key` has ended or has no secret, and cannot be rotated."""
    if key.is_subject:
        raise BadInput(f"The key {key.id} is that of access tokens of an issuer. It has no secret.")
    if key.revoked_at is not None:
        raise BadInput(f"The key {key.id} is revoked and cannot be rotated. Create a new one.")
    if key.has_expired(now):
        raise BadInput(f"The key {key.id} has expired and cannot be rotated. Create a new one.")


def newest_half(cached: dict[K, V]) -> dict[K, V]:
    """Return the half of the items that was added last. Another thread may add items meanwhile."""
    return dict(list(cached.items())[len(cached) // 2 :])


def _or_never(time: float | None) -> float:
    return math.inf if time is None else time


_ID_LETTERS = "23456789abcdefghijkmnpqrstuvwxyz"
"""32 characters that are not confused when an id is read aloud."""

_BASE36 = string.ascii_lowercase + string.digits

_BASE62 = string.digits + string.ascii_uppercase + string.ascii_lowercase

_KEY_PREFIX = "mcpd_"

_PUBLISHER_PREFIX = "mcpp_"

_SECRET = re.compile(r"(mcp[dp]_[0-9A-Za-z]{32})([0-9A-Za-z]{6})")


def new_id() -> str:
    """Return a random id for a key, a token or an account. It is not secret."""
    return "".join(secrets.choice(_ID_LETTERS) for _ in range(8))


def subject_key_id(subject: bytes) -> str:
    """Return the id of the key of a subject with a digest. It is not secret, and twice as long as a random id."""
    return "".join(_ID_LETTERS[byte % 32] for byte in subject[:16])


def new_token() -> str:
    """Return a secret of 256 bits that is safe in a URL or a cookie."""
    return secrets.token_urlsafe(32)


def digest(secret: str) -> bytes:
    """Return the stored digest of a secret. A fast hash is enough, because a random secret cannot be guessed."""
    return sha256(secret.encode("utf-8", "replace")).digest()


def new_key_secret() -> str:
    """Return a new API key: `mcpd_`, 32 random characters (190 bits) and a checksum of 6."""
    return _new_secret(_KEY_PREFIX)


def is_key_secret(secret: str) -> bool:
    """Return whether `secret` has the format and the checksum of an API key."""
    return _is_secret(secret, _KEY_PREFIX)


def new_publisher_secret() -> str:
    """Return a new publisher token: `mcpp_`, then as in an API key."""
    return _new_secret(_PUBLISHER_PREFIX)


def is_publisher_secret(secret: str) -> bool:
    """Return whether `secret` has the format and the checksum of a publisher token."""
    return _is_secret(secret, _PUBLISHER_PREFIX)


def new_registry_secret() -> str:
    """Return a new registry token: 32 lower-case letters and digits (165 bits), safe in a path."""
    return "".join(secrets.choice(_BASE36) for _ in range(32))


def _new_secret(prefix: str) -> str:
    text = prefix + "".join(secrets.choice(_BASE62) for _ in range(32))
    return text + _checksum(text)


def _is_secret(secret: str, prefix: str) -> bool:
    match = _SECRET.fullmatch(secret)
    return match is not None and match[1].startswith(prefix) and _checksum(match[1]) == match[2]


def _checksum(text: str) -> str:
    """Return the CRC-32 of `text` as six digits in base 62."""
    number, digits = crc32(text.encode()), ""
    for _ in range(6):
        number, digit = divmod(number, 62)
        digits = _BASE62[digit] + digits
    return digits


MAX_NAME = 60
"""Characters of the name of a client program."""


@frozen
class Client:
    """The client of a request; `network` is such as 192.0.2.0/24, `name` such as curl. Either is "" if unknown."""

    network: str = ""
    name: str = ""


UNKNOWN = Client()
