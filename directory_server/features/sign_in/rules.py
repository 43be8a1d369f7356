"""Rules of claims: who may sign in, with which address, groups and role."""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any

from attrs import frozen

from ...domain.accounts import MAX_GROUP, MAX_GROUPS, Identity, Role, is_email, normalized_email, subject_digest
from ...domain.errors import DirectoryError
from ...issuers import required_values
from ...texts.sanitize import clean_text
from .settings import IssuerConfig

MAX_VALUES = 10_000
"""Values of a claim that are read."""

_ADDRESS = ("email", "email_verified", "xms_edov")
"""Claims of an address. The last is of Entra ID, true or the text 1: the owner of the domain is verified."""


class NotAllowed(DirectoryError):
    """An issuer confirms a person, but the rules do not allow her to sign in. The code says why."""

    code = "not_allowed"


@frozen
class Person:
    """A person who may sign in: `email` is her verified address."""

    identity: Identity
    email: str


def person_of(issuer: IssuerConfig, subject: str, claims: Mapping[str, Any]) -> Person:
    """Return the person whom verified `claims` of an issuer describe. Raises NotAllowed."""
    email = claims.get("email")
    address = normalized_email(email) if isinstance(email, str) else ""
    if not is_email(address) or not (issuer.trust_email or has_verified_address(claims)):
        raise NotAllowed("The e-mail address is missing or not verified.", code="email_not_verified")
    if issuer.domains and address.rpartition("@")[2] not in {domain.lower() for domain in issuer.domains}:
        raise NotAllowed("The domain of the e-mail address is not among those that may sign in.")
    for name, allowed in required_values(issuer.require).items():
        if not allowed & texts_of(claims, name):
            raise NotAllowed(f"The claim {name} has none of the values that may sign in.")
    groups = texts_of(claims, issuer.groups)
    is_operator, is_auditor = bool(groups & {*issuer.operators}), bool(groups & {*issuer.auditors})
    role: Role = "operator" if is_operator else "auditor" if is_auditor else "member"
    stored = sorted(group for group in groups if group == clean_text(group, MAX_GROUP))[:MAX_GROUPS]
    decided = role if issuer.operators or issuer.auditors else None
    digest = subject_digest(issuer.url, subject)
    return Person(Identity(issuer.url, digest, tuple(stored), decided, issuer.renew or None), address)


def has_verified_address(claims: Mapping[str, Any]) -> bool:
    """Return whether the claims of one document have an address, and say that it is verified."""
    is_verified = (
        claims.get("email_verified") is True or claims.get("xms_edov") is True or claims.get("xms_edov") == "1"
    )
    return isinstance(claims.get("email"), str) and is_verified


def with_user_info(claims: Mapping[str, Any], user_info: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the claims of an ID token and, where it has none, those of the userinfo endpoint.

    The address, and whether it is verified, are of one document: the first that has a verified one, else any.
    """
    documents = (claims, user_info)
    verified = (document for document in documents if has_verified_address(document))
    source = next(verified, claims if "email" in claims else user_info)
    return {**user_info, **claims, **{name: source.get(name) for name in _ADDRESS}}


def texts_of(claims: Mapping[str, Any], path: str) -> Set[str]:
    """Return the values of a claim as texts: one or a list of texts, numbers or truth values.

    A claim whose name is `path` comes first. Else dots lead into objects.
    """
    value: Any = claims.get(path)
    if value is None:
        value = claims
        for name in path.split("."):
            value = value.get(name) if isinstance(value, dict) else None
    values = value[:MAX_VALUES] if isinstance(value, list) else [value]
    return {_text(value) for value in values if isinstance(value, str | int)}


def _text(value: str | int) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
