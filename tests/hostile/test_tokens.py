"""Forged tokens and hostile issuers."""

from __future__ import annotations

import hmac
import json
from base64 import urlsafe_b64encode
from typing import Any

import pytest

from directory_server.domain.errors import InvalidToken, Unavailable
from directory_server.issuers import MAX_KEYS, MAX_TOKEN

from ..issuers.signing import URL, claims_of, rsa_key, signed, unsigned
from ..issuers.test_issuer import ONE, Setup

FOREIGN = rsa_key("one")
"""Another key with the id of the issuer's."""

JWK = {**FOREIGN.as_dict(private=False)}


def encoded(text: bytes) -> str:
    return urlsafe_b64encode(text).rstrip(b"=").decode()


def hmac_with_public_key(form: bytes) -> str:
    token = unsigned({"alg": "HS256", "kid": "one"}, claims_of()).rpartition(".")[0]
    return f"{token}.{encoded(hmac.digest(form, token.encode(), 'sha256'))}"


FORGED = {
    "none": unsigned({"alg": "none"}, claims_of()),
    "none, empty signature": unsigned({"alg": "none"}, claims_of(), b""),
    "None": unsigned({"alg": "None", "kid": "one"}, claims_of()),
    "HS256 with the public key": hmac_with_public_key(ONE.as_pem(private=False)),
    "HS256 with the public key in DER": hmac_with_public_key(ONE.as_der(private=False)),
    "HS256 with the JSON of the key": hmac_with_public_key(json.dumps(ONE.as_dict(private=False)).encode()),
    "another key with the same id": signed(FOREIGN, claims_of()),
    "jwk": signed(FOREIGN, claims_of(), jwk=JWK),
    "jku": signed(FOREIGN, claims_of(), jku="https://attacker.example/keys"),
    "x5u": signed(FOREIGN, claims_of(), x5u="https://attacker.example/certificate"),
    "x5c": signed(FOREIGN, claims_of(), x5c=["MIIB"]),
    "kid: a path": signed(FOREIGN, claims_of(), kid="../../../../dev/null"),
    "kid: SQL": signed(FOREIGN, claims_of(), kid="x' UNION SELECT 'AA"),
    "kid: a URL": signed(FOREIGN, claims_of(), kid="https://attacker.example/keys"),
    "kid: no string": unsigned({"alg": "RS256", "kid": {"$ne": None}}, claims_of()),
    "crit": signed(ONE, claims_of(), crit=["b64"], b64=True),
    "algorithm of another type of key": unsigned({"alg": "ES256", "kid": "one"}, claims_of(), b"\0" * 64),
    "encrypted": ".".join(["e30"] * 5),
    "header: no object": unsigned([], claims_of()),
    "header: deep": f"{encoded(b'[' * 3_000)}.e30.e30",
    "header: huge": f"{'e' * 5_000}.e30.e30",
    "claims: no object": signed(ONE, []),
    "claims: deep": signed(ONE, json.loads("[" * 500 + "]" * 500)),
    "huge": signed(ONE, claims_of(x="x" * MAX_TOKEN)),
    "padding": signed(ONE, claims_of()) + "==",
    "a line break": signed(ONE, claims_of()) + "\n",
    "no JWT": "x",
}


@pytest.mark.parametrize("token", FORGED.values(), ids=FORGED.keys())
def test_forged_tokens_are_rejected_without_requests_elsewhere(token: str) -> None:
    setup = Setup()
    setup.verify(setup.token())
    with pytest.raises(InvalidToken):
        setup.verify(token)
    assert {url for url in setup.documents.requested if not url.startswith(f"{URL}/")} == set()


def test_a_changed_claim_or_signature_is_rejected() -> None:
    setup = Setup()
    header, _, signature = setup.token().split(".")
    claims = encoded(json.dumps(claims_of(sub="repo:attacker/x")).encode())
    for token in (f"{header}.{claims}.{signature}", f"{setup.token().rpartition('.')[0]}.AAAA"):
        with pytest.raises(InvalidToken, match="signature"):
            setup.verify(token)


@pytest.mark.parametrize(
    ("keys", "reason"),
    [
        ([], "no key that verifies"),
        ([{"kty": "oct", "k": "c2VjcmV0", "kid": "one"}], "no key that verifies"),
        ([{**ONE.as_dict(private=False), "use": "enc"}], "no key that verifies"),
        ([{**ONE.as_dict(private=False), "n": encoded(b"\xff" * 128)}], "no key that verifies"),
        ([{**ONE.as_dict(private=False), "e": "A" * 342}], "no key that verifies"),
        ([{**ONE.as_dict(private=False), "n": "A" * 3_000}], "no key that verifies"),
        ([{**ONE.as_dict(private=False), "n": 5}], "no key that verifies"),
        ([{"kty": "EC", "crv": "P-256", "x": "AAAA", "y": "AAAA", "kid": "one"}], "no key that verifies"),
        (["x", None, {}], "no key that verifies"),
        ([{}] * (MAX_KEYS + 1), "no array of at most 100 keys"),
        ({"kid": "one"}, "no array of at most 100 keys"),
    ],
)
def test_hostile_key_sets_are_rejected(keys: Any, reason: str) -> None:
    setup = Setup()
    setup.documents.key_set = keys
    with pytest.raises(Unavailable, match=reason):
        setup.verify(setup.token())
