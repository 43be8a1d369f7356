"""Persons and clients as issuers (OpenID Connect, OAuth) name them."""

from __future__ import annotations

from hashlib import blake2b

from attrs import frozen

MAX_GROUPS = 200
"""Groups of a person. Entra ID puts at most 200 into a token."""

MAX_GROUP = 200
"""Characters of the name of a group."""


@frozen
class Identity:
    """A person of an issuer: the URL of the issuer, the digest of both, and the groups of the last sign-in."""

    issuer: str
    digest: bytes
    groups: tuple[str, ...] = ()


def subject_digest(issuer: str, subject: str) -> bytes:
    """Return the digest by which the `subject` of an issuer is stored. No secret of a key has it."""
    # The lengths of both parts are in the text, so that no two pairs have the same.
    text = f"{len(issuer)}:{issuer}{subject}"
    return blake2b(text.encode("utf-8", "replace"), digest_size=32, person=b"subject").digest()
