"""User accounts, and the persons and clients that issuers (OpenID Connect, OAuth) name: values and rules."""

from __future__ import annotations

import re
from hashlib import blake2b
from typing import Literal

from attrs import field, frozen

from .errors import BadInput, Forbidden, NotFound
from .keys import Client, digest
from .requests import Kind

RECORDED_USES = 10
"""The most writes of the last use per idle lifetime of a session."""

USE_INTERVAL = 900.0
"""The most seconds between a use of a session and the next use that is written."""

MAX_SESSIONS = 20
"""The most sessions of an account. A new session ends the one that was not used for the longest time."""

MAX_FORGOTTEN = 500
"""The most sessions that a sign-in deletes because of their last use, and because of their start."""

MAX_EMAIL = 254
"""Characters of an e-mail address (RFC 5321, section 4.5.3.1.3, less the angle brackets)."""


REGISTRATION = Kind(
    "registration",
    needs_text=False,
    most=0,
    per_account=1,
    expires=False,
    page="/account/keys",
    noun="request for an account",
)
"""Of somebody who has registered, for the approval of the account. Its subject is the id of the account.

It ends with an account that nobody uses. Otherwise it waits: the person cannot ask again, and no operator sees an
account without one.
"""

Role = Literal["member", "operator", "auditor"]

ROLES: tuple[Role, ...] = ("member", "operator", "auditor")
"""An operator may use the operator pages. An auditor reads them and all entries, and changes nothing."""


SEEING_ALL: tuple[Role, ...] = ("operator", "auditor")
"""The roles that read the operator pages and all entries."""


AccountState = Literal["active", "invited", "pending", "disabled"]

ACCOUNT_STATES: tuple[AccountState, ...] = ("active", "invited", "pending", "disabled")


def unknown_link() -> NotFound:
    """Return the error of a link that is unknown, used or expired."""
    return NotFound("This link is unknown, used or expired. Ask for a new one.", code="link_unknown")


def unknown_session() -> NotFound:
    """Return the error of a session that is unknown or has ended."""
    return NotFound("The session is unknown or has ended.", code="session_unknown")


def unknown_account(account_id: str) -> NotFound:
    """Return the error of an id that no account has."""
    return NotFound(f"No account has the id {account_id!r}.")


def email_taken(address: str) -> BadInput:
    """Return the error of a new account whose address another account has."""
    return BadInput(f"email: {address!r} has an account already.", code="email_taken")


def linked_elsewhere(address: str) -> BadInput:
    """Return the error of a person whose address belongs to the account of another one."""
    return BadInput(
        f"email: another person signs in to the account {address!r}. An operator can link her.", code="linked_elsewhere"
    )


def disabled_account() -> BadInput:
    """Return the error of an action that a disabled account does not allow."""
    return BadInput("The account is disabled. Enable it first.")


@frozen
class Account:
    """A user account, which may own API keys. Times are seconds since the epoch.

    `active` is whether the account has a password, or a person of an issuer who signs in to it. `approved` is whether
    the operator or an issuer created the account, or the operator approved it. A self-registered account is pending
    until then. `limit` is that of its new keys, in requests per 60 minutes; None for the limit of the setting.
    """

    id: str
    email: str
    created_at: float
    active: bool = field(converter=bool)
    disabled_at: float | None = None
    approved: bool = field(converter=bool, default=True)
    role: Role = "member"
    limit: int | None = None

    def key_limit(self, default: int | None) -> int | None:
        """Return the limit of the account's new keys: its own, or the `default` of the setting."""
        return default if self.limit is None else self.limit

    @property
    def state(self) -> AccountState:
        """Whether the account is active, invited, pending or disabled."""
        if self.disabled_at is not None:
            return "disabled"
        if not self.approved:
            return "pending"
        return "active" if self.active else "invited"

    @property
    def is_operator(self) -> bool:
        """Whether the account may change what is on the operator pages."""
        return self.role == "operator"

    @property
    def is_auditor(self) -> bool:
        """Whether the account may change nothing but its own password and sessions."""
        return self.role == "auditor"

    @property
    def sees_all(self) -> bool:
        """Whether the account may read the operator pages and all entries."""
        return self.role in SEEING_ALL


@frozen
class BrowserSession:
    """A session of an account, without its secret. Times are seconds since the epoch; `id` is not secret."""

    id: str
    created_at: float
    seen_at: float
    client: Client


def session_id(token: str) -> str:
    """Return the id of the session with the secret `token`."""
    return id_of_digest(digest(token))


def id_of_digest(key: bytes) -> str:
    """Return the id of the session whose secret has the digest `key`: its first 16 hexadecimal digits."""
    return key[:8].hex()


def digest_start(session_id: str) -> bytes | None:
    """Return the first bytes of the digest of the session with an id, None if no session has such an id."""
    try:
        start = bytes.fromhex(session_id)
    except ValueError:
        return None
    return start if id_of_digest(start) == session_id else None


def writes_use(seen_at: float, now: float, idle: float) -> bool:
    """Return whether the use of a session is written, which was last written at `seen_at`. `idle` is its lifetime."""
    return now - seen_at >= min(idle / RECORDED_USES, USE_INTERVAL)


_ATOM, _LABEL = r"[a-z0-9!#$%&'*+/=?^_`{|}~-]+", r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"

_EMAIL = re.compile(rf"{_ATOM}(?:\.{_ATOM})*@{_LABEL}(?:\.{_LABEL})*")
"""A dot-string and a host (RFC 5321, section 4.1.2), which fields of type email accept, too."""

_ENCODED = re.compile(r"=\?.*\?=")
"""An encoded word (RFC 2047), which mail programs read as other text, such as one more address."""


def normalized_email(email: str) -> str:
    """Return the form of an address that is stored and compared: lower case, without surrounding spaces.

    Only ASCII changes: in lower case the Kelvin sign would be a k, and the address that of somebody else.
    """
    email = email.strip()
    return email.lower() if email.isascii() else email


def is_email(address: str) -> bool:
    """Return whether a normalized address may be that of a new account: an address that mail programs agree on."""
    return len(address) <= MAX_EMAIL and _EMAIL.fullmatch(address) is not None and _ENCODED.search(address) is None


def checked_email(email: str) -> str:
    """Return the normalized address. Raises BadInput if it is not an e-mail address."""
    address = normalized_email(email)
    if not is_email(address):
        raise BadInput(
            f"email: must be an address such as ann@example.org, of at most {MAX_EMAIL} characters.",
            code="email_wrong",
        )
    return address


def check_role(account: Account, role: Role) -> None:
    """Raise BadInput if `account` may not have `role`. A pending account may be deleted at any time."""
    if role != "member" and not account.approved:
        raise BadInput(f"The account {account.email} is not approved. Approve it first.", code="not_approved")


def check_not_auditor(account: Account) -> None:
    """Raise Forbidden for an auditor, who changes nothing."""
    if account.is_auditor:
        raise Forbidden("An auditor reads the directory and changes nothing in it.", code="auditor")


MAX_GROUPS = 200
"""Groups of a person. Entra ID puts at most 200 into a token."""

MAX_GROUP = 200
"""Characters of the name of a group."""


@frozen
class Identity:
    """A person of an issuer: the URL of the issuer, the digest of both, and the groups of the last sign-in.

    `role` is None if claims do not decide it. Role and groups count for `renew` seconds, None for always.
    """

    issuer: str
    digest: bytes
    groups: tuple[str, ...] = ()
    role: Role | None = None
    renew: float | None = None


def subject_digest(issuer: str, subject: str) -> bytes:
    """Return the digest by which the `subject` of an issuer is stored. No secret of a key has it."""
    # The lengths of both parts are in the text, so that no two pairs have the same.
    text = f"{len(issuer)}:{issuer}{subject}"
    return blake2b(text.encode("utf-8", "replace"), digest_size=32, person=b"subject").digest()
