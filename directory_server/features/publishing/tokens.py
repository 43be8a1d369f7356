"""Publisher tokens, their namespaces, and the records of the audit log."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from attrs import frozen

from ...domain.errors import BadInput, NotFound, without_keys
from ...domain.keys import MAX_LABEL, check_expiry, check_label, new_id, new_publisher_secret
from ...domain.kinds import plain_name
from ...domain.namespaces import CODE_HOSTS, NamespaceProof, ProofKind
from ...domain.patterns import NAME, is_pattern
from ...domain.publishing import SubjectPublisher
from ...texts.sanitize import clean_line

MAX_NAMESPACES = 20
"""Patterns of a token."""

LOG_SIZE = 100_000
"""Records of the audit log; the oldest are deleted first."""

MAX_LOGGED = 255
"""Characters of a name or version in the audit log."""

LOG_PAGE = 1_000
"""The most records of the audit log that one call returns."""

LOGIN_LIFETIME = 300.0
"""Seconds for which the token of a login is valid, as in the official registry."""

WINDOW = 15.0
"""Seconds by which a signed timestamp may differ from the clock of this machine, as in the official registry."""

ANY = "*"
"""The pattern of all namespaces that a login proves."""


@frozen
class PublisherToken:
    """A token that publishes names in `namespaces`, without its secret. Times are seconds since the epoch."""

    id: str
    label: str
    namespaces: tuple[str, ...]
    last_four: str
    created_at: float
    expires_at: float | None = None
    revoked_at: float | None = None

    def permits(self, name: str) -> bool:
        """Return whether the token may publish `name`. Upper and lower case are different."""
        return NAME.fullmatch(plain_name(name)) is not None and any(
            _matches(namespace, name) for namespace in self.namespaces
        )

    def spelling(self, name: str) -> str:
        """Return `name` in the letter case that the token may publish, empty if it may publish it in none."""
        prefixes = (pattern.removesuffix("*/*").removesuffix("*") for pattern in self.namespaces)
        spelt = (prefix + name[len(prefix) :] for prefix in prefixes if name.lower().startswith(prefix.lower()))
        return next(filter(self.permits, spelt), "")

    def state(self, now: float) -> str:
        """Return whether the token is valid, expired or revoked."""
        if self.revoked_at is not None:
            return "revoked"
        return "expired" if self.expires_at is not None and self.expires_at <= now else "valid"


def token_of_subject(subject: SubjectPublisher) -> PublisherToken:
    """Return the publisher token that an access token is. It is not stored."""
    return PublisherToken(subject.id, subject.label, subject.namespaces, "", 0.0, subject.expires_at)


@frozen
class Proven:
    """What a login has proven: who logs in, and patterns of the names that are theirs.

    `use` identifies a proof that is good for one login, None for others.
    """

    kind: ProofKind
    subject: str
    namespaces: tuple[str, ...]
    use: bytes | None = None

    @property
    def label(self) -> str:
        """The label of the token."""
        return clean_line(f"{self.kind}: {self.subject}", MAX_LABEL)

    def facts(self, now: float) -> Sequence[NamespaceProof]:
        """Return the proofs of whole namespaces, given at `now`, in seconds since the epoch."""
        subject = clean_line(self.subject, MAX_LOGGED)
        whole = [namespace.removesuffix("/*") for namespace in self.namespaces if namespace.endswith("/*")]
        return [
            NamespaceProof(namespace, self.kind, subject, now) for namespace in whole if not namespace.endswith(".*")
        ]


@frozen
class Publication:
    """A record of the audit log.

    `at` is in seconds since the epoch. `token_id` and `label` are of the token. `action` is such as publish or status:
    deleted. `name` and `version` are those of the request; "*" stands for all versions. `network` is the client's, not
    an address. `outcome` is "done", an error code, or "started" if the process ended before the outcome was known.
    """

    at: float
    token_id: str
    label: str
    action: str
    name: str
    version: str
    network: str
    outcome: str


STARTED, DONE = "started", "done"
"""Outcomes of a Publication that no error ended."""


def logged(text: str) -> str:
    """Return a text of a request as the audit log stores it: on one line, cleaned and cut, with keys masked."""
    return without_keys(clean_line(text, MAX_LOGGED))


def unknown_publisher_token(token_id: str) -> NotFound:
    """Return the error of an id that no publisher token has."""
    return NotFound(f"No publisher token has the id {token_id!r}.")


def new_publisher_token(
    label: str, namespaces: Iterable[str], now: float, expires_at: float | None
) -> tuple[PublisherToken, str]:
    """Return a token that is created at `now`, and its secret. Raises BadInput.

    Times are seconds since the epoch. A token whose `expires_at` is None does not expire.
    """
    check_label(label)
    check_expiry(expires_at, now)
    patterns, secret = _checked_namespaces(namespaces), new_publisher_secret()
    return PublisherToken(new_id(), label, patterns, secret[-4:], now, expires_at), secret


def _checked_namespaces(patterns: Iterable[str]) -> tuple[str, ...]:
    """Return `patterns` without duplicates. Raises BadInput.

    `io.acme/*` permits all names of a namespace, `io.acme/tool` one name, `io.acme.*/*` the namespaces below io.acme.
    """
    unique = tuple(dict.fromkeys(patterns))
    if not 1 <= len(unique) <= MAX_NAMESPACES:
        raise BadInput(f"namespace: a token needs 1 to {MAX_NAMESPACES} namespaces.")
    for pattern in unique:
        if not is_pattern(pattern):
            raise BadInput(
                f"namespace: {pattern[:100]!r} must be a namespace such as io.acme/*, one name such as io.acme/tool, "
                "or all namespaces below one of two or more labels such as io.acme.*/*."
            )
    return unique


def permitted(proven: Iterable[str], allowed: Sequence[str]) -> list[str]:
    """Return patterns of the names that both `proven` and `allowed` permit, at most MAX_NAMESPACES.

    The letter case of an account at a code host does not count.
    """
    both: dict[str, None] = {}
    for pattern in proven:
        if ANY in allowed or any(_matches(_folded(other), _folded(pattern)) for other in allowed):
            both[pattern] = None
        else:
            both.update(dict.fromkeys(other for other in allowed if _matches(_folded(pattern), _folded(other))))
    return list(both)[:MAX_NAMESPACES]


def _folded(pattern: str) -> str:
    return pattern.lower() if pattern.lower().startswith(CODE_HOSTS) else pattern


def _matches(pattern: str, name: str) -> bool:
    if pattern.endswith(".*/*"):
        return name.partition("/")[0].startswith(pattern.removesuffix("*/*"))
    return name.startswith(pattern.removesuffix("*")) if pattern.endswith("/*") else name == pattern
