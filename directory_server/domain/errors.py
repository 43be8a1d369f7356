"""Everything that can be refused, named once; `web` turns each kind into a response."""

from __future__ import annotations

import re

from .quota import Allowance

_KEY = re.compile(r"mcpd_\w+")


def without_keys(text: str) -> str:
    """Return `text` with every API key in it hidden: what is refused is often repeated, and a key may be in it."""
    return _KEY.sub("mcpd_…", text)


class DirectoryError(Exception):
    """Refuse a request for a reason its sender may be told.

    `code` is the machine's word for the reason and never changes; `message` is a sentence for a person.
    """

    code = "error"

    def __init__(self, message: str, *, code: str | None = None) -> None:
        self.message = without_keys(message)
        super().__init__(self.message)
        if code is not None:
            self.code = code


class BadInput(DirectoryError):
    """Refuse input that is not what was asked for; the message names where it is wrong and what is allowed."""

    code = "bad_request"


class Unauthorized(DirectoryError):
    """Refuse a missing, malformed, unknown, revoked or expired key: one answer for all of them."""

    code = "unauthorized"

    def __init__(self) -> None:
        super().__init__("A valid API key is required. Send it in the header: Authorization: Bearer <key>.")


class Forbidden(DirectoryError):
    """Refuse a request that a web page of another origin, or a name that is not ours, lets a browser send."""

    code = "forbidden"


class NotFound(DirectoryError):
    """Refuse a request for something that is not here."""

    code = "not_found"


class Gone(DirectoryError):
    """Refuse to go on from a place that the change log does not have; `head` is the `seq` of its latest change.

    Where the log `was_restored`, it may have another change at that place.
    """

    code = "reset"

    def __init__(self, since: int, oldest: int, head: int, *, was_restored: bool = False) -> None:
        reason = "the directory was restored from a backup" if was_restored else f"the log has {oldest} to {head}"
        super().__init__(
            f"There is no going on from change {since}: {reason}. "
            "Drop what you have of it and begin anew, with since=0 for all that is there."
        )
        self.head = head


class TooManyStreams(DirectoryError):
    """Refuse one more stream, where the key or the server has as many as it may."""

    code = "too_many_streams"


class TooManyKeys(DirectoryError):
    """Refuse one more key, where an account has `most`."""

    code = "too_many_keys"

    def __init__(self, most: int) -> None:
        super().__init__(
            f"An account may have {most} keys, and yours has. A key that is revoked makes room an hour later."
        )
        self.most = most


class TooManyAccounts(DirectoryError):
    """Refuse one more registration, where as many accounts wait for approval as may."""

    code = "registration_full"

    def __init__(self) -> None:
        super().__init__("Registration is closed: too many accounts wait for approval. Ask the operator.")


class SignInRefused(DirectoryError):
    """Refuse an unknown address, a wrong password or a disabled account: one answer for all of them."""

    code = "sign_in_refused"

    def __init__(self) -> None:
        super().__init__("The e-mail address or the password is wrong.")


class QuotaExceeded(DirectoryError):
    """Refuse a request over the key's quota; `allowance.reset` is the seconds until one more is admitted."""

    code = "rate_limited"

    def __init__(self, allowance: Allowance) -> None:
        super().__init__(
            f"This key has used its {allowance.limit} requests of the last 60 minutes. "
            f"Try again in {allowance.reset} seconds."
        )
        self.allowance = allowance


class Throttled(DirectoryError):
    """Refuse an address, or an account, that did something too often; `retry_after` is in seconds."""

    code = "throttled"

    def __init__(self, retry_after: int) -> None:
        super().__init__(f"Too many such requests came from here. Try again in {retry_after} seconds.")
        self.retry_after = retry_after


class Unavailable(DirectoryError):
    """Refuse for now: the store cannot answer (a full disk, a lock held too long)."""

    code = "unavailable"
