"""Tokens of OpenID Connect issuers: the discovery document, the keys, and the verification of signed tokens."""

from ._issuer import DEADLINE, FRESH, MAX_DOCUMENT, PAUSE, STALE, Documents, Issuer, issuer_of
from ._keys import MAX_KEYS
from ._tokens import ALGORITHMS, LEEWAY, MAX_TOKEN, VerifiedToken, claimed_issuer
from ._urls import issuer_url

__all__ = [
    "ALGORITHMS",
    "DEADLINE",
    "FRESH",
    "LEEWAY",
    "MAX_DOCUMENT",
    "MAX_KEYS",
    "MAX_TOKEN",
    "PAUSE",
    "STALE",
    "Documents",
    "Issuer",
    "VerifiedToken",
    "claimed_issuer",
    "issuer_of",
    "issuer_url",
]
