"""Tokens of OpenID Connect issuers: the discovery document, the keys, and the verification of signed tokens."""

from ._issuer import FRESH, MAX_KEYS, PAUSE, STALE, Documents, Issuer, issuer_of, issuer_url
from ._tokens import LEEWAY, MAX_TOKEN, VerifiedToken, claimed_issuer, required_values
