"""Errors of the domain. `web.error_responses` maps each class to an HTTP response."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..texts.wording import counted, wait
from .quota import Allowance
from .shapes import Issue

_KEY = re.compile(r"(mcp[dp]_)\w+")


def without_keys(text: str) -> str:
    """Return `text` with every API key and publisher token in it masked. Error messages repeat input."""
    return _KEY.sub(r"\1…", text)


class DirectoryError(Exception):
    """Base of all errors whose message may be sent to the client.

    `code` is the stable machine-readable reason; `message` is a sentence for people. `about` is a name in it, which
    translations of the message repeat.
    """

    code = "error"

    def __init__(self, message: str, *, code: str | None = None, about: str = "") -> None:
        self.message, self.about = without_keys(message), without_keys(about)
        super().__init__(self.message)
        if code is not None:
            self.code = code


class BadInput(DirectoryError):
    """The input is invalid. The message names the field and what is allowed."""

    code = "bad_request"


class NoAccess(DirectoryError):
    """A request has no valid secret. `challenge` is the WWW-Authenticate header of the response, if it is not empty."""

    challenge = ""


class Unauthorized(NoAccess):
    """The API key is missing, malformed, unknown, revoked or expired; the response does not say which."""

    code = "unauthorized"

    def __init__(self) -> None:
        super().__init__("A valid API key is required. Send it in the header: Authorization: Bearer <key>.")


class UnknownPublisher(NoAccess):
    """The publisher token is missing, malformed, unknown, revoked or expired; the response does not say which."""

    code = "unauthorized"

    def __init__(self) -> None:
        super().__init__("A valid publisher token is required. Send it in the header: Authorization: Bearer <token>.")


class InvalidToken(NoAccess):
    """A token of an issuer is malformed, expired, wrongly signed, or for another audience; the message says which."""

    code = "invalid_token"


class InsufficientScope(NoAccess):
    """An access token is valid, but does not have the `scope` that the request needs."""

    code = "insufficient_scope"

    def __init__(self, scope: str) -> None:
        super().__init__(f"The access token must have the scope {scope}.")
        self.scope = scope


class InvalidServer(DirectoryError):
    """A server.json or another document is invalid; `issues` has the path of each invalid member."""

    code = "invalid_server"

    def __init__(self, issues: Sequence[Issue]) -> None:
        first = issues[0]
        more = f" There are {len(issues) - 1} more errors." if len(issues) > 1 else ""
        super().__init__(f"{first.path or 'The body'}: {first.message}{more}")
        self.issues = issues


class Forbidden(DirectoryError):
    """The Host or Origin header is not allowed."""

    code = "forbidden"


class NotFound(DirectoryError):
    """The requested object does not exist."""

    code = "not_found"


class Gone(DirectoryError):
    """The change log cannot be read on from a given position; `head` is the `seq` of its latest change.

    After `was_restored` the log may have another change at that position.
    """

    code = "reset"

    def __init__(self, since: int, oldest: int, head: int, *, was_restored: bool = False) -> None:
        reason = "the directory was restored from a backup" if was_restored else f"the log has {oldest} to {head}"
        super().__init__(
            f"Cannot continue from change {since}: {reason}. "
            "Discard the local copy and start again with since=0, which returns all entries."
        )
        self.head = head


class TooManyStreams(DirectoryError):
    """The key or the server has reached its limit of streams."""

    code = "too_many_streams"


class TooManyKeys(DirectoryError):
    """The account has reached its limit of `most` keys."""

    code = "too_many_keys"

    def __init__(self, most: int) -> None:
        super().__init__(
            f"You have reached the limit of {counted(most, 'key')}. "
            "A revoked or expired key frees its place after one hour."
        )
        self.most = most


class TooManyAccounts(DirectoryError):
    """The limit of accounts that wait for approval is reached."""

    code = "registration_full"

    def __init__(self) -> None:
        super().__init__("Registration is closed: too many accounts wait for approval. Ask the operator.")


class TooManyRequests(DirectoryError):
    """The limit of open requests of a kind, of all subjects or of one, is reached."""

    code = "requests_full"

    def __init__(self) -> None:
        super().__init__("Too many requests wait for a decision. Try again later.")


class SignInRefused(DirectoryError):
    """Unknown address, wrong password or disabled account; the response does not say which."""

    code = "sign_in_refused"

    def __init__(self) -> None:
        super().__init__("The e-mail address or the password is wrong.")


class PasswordRefused(DirectoryError):
    """The current password that a signed-in member has given is wrong."""

    code = "password_refused"

    def __init__(self) -> None:
        super().__init__("The current password is wrong.")


class QuotaExceeded(DirectoryError):
    """The quota of the key is used up; `allowance.reset` is the seconds until the next request is possible."""

    code = "rate_limited"

    def __init__(self, allowance: Allowance) -> None:
        super().__init__(
            f"This key has used its {counted(allowance.limit or 0, 'request')} of the last 60 minutes. "
            f"Try again in {wait(allowance.reset)}."
        )
        self.allowance = allowance


class Throttled(DirectoryError):
    """A client address or an account exceeded a rate limit; `retry_after` is in seconds."""

    code = "throttled"

    def __init__(self, retry_after: int) -> None:
        super().__init__(f"Too many requests. Try again in {wait(retry_after)}.")
        self.retry_after = retry_after


NEWER_SCHEMA = "newer_schema"
"""The code of an Unavailable database that a newer version has upgraded, which ends with another version only."""


class Unavailable(DirectoryError):
    """A part of the server is temporarily unavailable (a full disk, a lock held too long, a full queue).

    `retry_after` is in seconds.
    """

    code = "unavailable"

    def __init__(self, message: str, *, code: str | None = None, retry_after: int = 1) -> None:
        super().__init__(message, code=code)
        self.retry_after = retry_after
