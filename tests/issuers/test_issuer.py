"""An issuer: verified tokens, and the cache of its keys."""

from __future__ import annotations

from typing import Any

import pytest
from joserfc.jwk import ECKey
from twisted.internet.defer import Deferred
from twisted.internet.task import Clock

from directory_server.domain.errors import InvalidToken, Unavailable
from directory_server.issuers import FRESH, LEEWAY, PAUSE, STALE, Issuer, VerifiedToken, issuer_url
from directory_server.issuers._tokens import check_claims
from directory_server.runtime.run_sync import inline, run_sync

from .signing import AUDIENCE, NOW, URL, Documents, Key, claims_of, rsa_key, signed

ONE, TWO = rsa_key(), rsa_key("two")


class Setup:
    def __init__(self, *keys: Key) -> None:
        self.clock = Clock()
        self.documents = Documents(list(keys or (ONE,)))
        self.issuer = Issuer(URL, self.documents, inline, self.clock, lambda: NOW + self.clock.seconds())

    def verify(self, token: str) -> VerifiedToken:
        return run_sync(self.issuer.verify(token, [AUDIENCE]))

    def token(self, key: Key = ONE, algorithm: str = "RS256", **claims: Any) -> str:
        return signed(key, claims_of(now=NOW + self.clock.seconds(), **claims), algorithm)


@pytest.mark.parametrize(
    ("key", "algorithm"),
    [
        (ONE, "RS256"),
        (ONE, "PS512"),
        (ECKey.generate_key("P-256", {"kid": "ec"}), "ES256"),
        (ECKey.generate_key("P-384", {"kid": "ec"}), "ES384"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_token_of_each_kind_of_key_is_verified(key: Key, algorithm: str) -> None:
    found = Setup(TWO, key).verify(signed(key, claims_of(repository="acme/x"), algorithm))
    assert (found.kind, found.subject, found.claims["repository"]) == ("jwt", "repo:acme/x", "acme/x")


def test_the_type_of_an_access_token_is_returned() -> None:
    assert Setup().verify(signed(ONE, claims_of(), typ="application/at+JWT")).kind == "at+jwt"


@pytest.mark.parametrize("audience", [{}, [{}], [[AUDIENCE], {}]])
def test_an_audience_that_is_no_text_is_none(audience: object) -> None:
    with pytest.raises(InvalidToken, match="audience"):
        check_claims({"iss": URL, "aud": audience}, URL, frozenset([AUDIENCE]), 0)


def test_the_audience_may_be_one_of_several() -> None:
    assert Setup().verify(Setup().token(aud=["https://other.example", AUDIENCE])).subject


@pytest.mark.parametrize(
    ("claims", "reason"),
    [
        ({"iss": f"{URL}/"}, f"The issuer of the token must be {URL}."),
        ({"aud": "mcp-registry"}, "The audience of the token must be"),
        ({"aud": None}, "The audience of the token must be"),
        ({"aud": [[AUDIENCE]]}, "The audience of the token must be"),
        ({"exp": None}, "no expiry"),
        ({"exp": NOW - LEEWAY}, "has expired"),
        ({"exp": "soon"}, "exp of the token must be a number"),
        ({"exp": True}, "exp of the token must be a number"),
        ({"nbf": NOW + LEEWAY + 1}, "not valid yet"),
        ({"iat": NOW + LEEWAY + 1}, "not valid yet"),
        ({"sub": ""}, "no subject"),
        ({"sub": ["x"]}, "no subject"),
        ({"sub": "x" * 1_001}, "no subject"),
    ],
)
def test_wrong_claims_are_rejected(claims: dict[str, Any], reason: str) -> None:
    with pytest.raises(InvalidToken, match=reason):
        Setup().verify(Setup().token(**claims))


def test_clocks_may_differ_by_the_leeway() -> None:
    assert Setup().verify(Setup().token(exp=NOW - LEEWAY + 1, nbf=NOW + LEEWAY, iat=NOW + LEEWAY))


def test_both_documents_are_fetched_once_until_they_are_old() -> None:
    setup = Setup()
    setup.verify(setup.token())
    setup.clock.advance(FRESH)
    setup.verify(setup.token())
    assert setup.documents.requested == [f"{URL}/.well-known/openid-configuration", f"{URL}/keys"]
    setup.clock.advance(1)
    setup.verify(setup.token())
    assert len(setup.documents.requested) == 4
    assert setup.issuer.last_success == NOW + FRESH + 1


def test_a_new_key_is_found_but_unknown_key_ids_cause_few_fetches() -> None:
    setup = Setup()
    setup.verify(setup.token())
    setup.documents.keys = [TWO]
    for _ in range(10):
        with pytest.raises(InvalidToken, match="not of a key of its issuer"):
            setup.verify(setup.token(TWO))
    assert len(setup.documents.requested) == 2
    setup.clock.advance(PAUSE)
    assert setup.verify(setup.token(TWO))
    # The old key is withdrawn.
    with pytest.raises(InvalidToken):
        setup.verify(setup.token(ONE))


def test_known_keys_count_for_an_hour_while_the_issuer_does_not_answer() -> None:
    setup = Setup()
    setup.verify(setup.token())
    setup.documents.error = "It answered 500."
    setup.clock.advance(STALE)
    assert setup.verify(setup.token())
    assert setup.issuer.error == "It answered 500."
    setup.clock.advance(PAUSE)
    with pytest.raises(Unavailable, match=r"cannot be fetched. It answered 500."):
        setup.verify(setup.token())
    # One failure is not repeated by each request.
    requested = len(setup.documents.requested)
    with pytest.raises(Unavailable):
        setup.verify(setup.token())
    assert len(setup.documents.requested) == requested
    setup.documents.error = ""
    setup.clock.advance(PAUSE)
    assert setup.verify(setup.token())
    assert setup.issuer.error == ""


@pytest.mark.parametrize("answer", ["", "It answered 500."])
def test_requests_whose_key_is_known_never_wait_for_the_issuer(answer: str) -> None:
    setup = Setup()
    setup.verify(setup.token())
    setup.documents.is_held = True
    for age in (FRESH + 1, (FRESH + STALE) / 2, STALE):
        setup.clock.pump([age - setup.clock.seconds()])
        for _ in range(5):
            verified: Any = Deferred.fromCoroutine(setup.issuer.verify(setup.token(), [AUDIENCE]))
            assert verified.called, age
            assert verified.result.subject == "repo:acme/x"
    # One fetch runs beside them.
    assert len(setup.documents.requested) == 3
    unknown: Any = Deferred.fromCoroutine(setup.issuer.verify(setup.token(TWO), [AUDIENCE]))
    assert not unknown.called
    setup.documents.error = answer
    setup.documents.keys = [TWO]
    setup.documents.release()
    if answer:
        unknown.addErrback(lambda failure: failure.trap(InvalidToken))
        assert setup.verify(setup.token())
    else:
        assert unknown.result.subject == "repo:acme/x"
        with pytest.raises(InvalidToken):
            setup.verify(setup.token())


def test_a_withdrawn_key_counts_for_an_hour_at_most() -> None:
    assert FRESH < STALE <= 3_600
    setup = Setup()
    setup.verify(setup.token())
    setup.documents.keys = [TWO]
    setup.clock.advance(STALE + 1)
    with pytest.raises(InvalidToken):
        setup.verify(setup.token())


def test_one_fetch_serves_all_that_wait() -> None:
    setup = Setup()
    setup.documents.is_held = True
    waiting: list[Any] = [Deferred.fromCoroutine(setup.issuer.verify(setup.token(), [AUDIENCE])) for _ in range(3)]
    left = waiting.pop()
    left.addErrback(lambda failure: None)
    left.cancel()
    assert len(setup.documents.requested) == 1
    setup.documents.release()
    assert [each.result.subject for each in waiting] == ["repo:acme/x"] * 2
    assert len(setup.documents.requested) == 2


@pytest.mark.parametrize(
    ("metadata", "reason"),
    [
        ({"issuer": "https://other.example"}, "names another issuer"),
        ({"jwks_uri": "http://issuer.example/keys"}, "no https URL of keys"),
        ({"jwks_uri": None}, "no https URL of keys"),
    ],
)
def test_an_invalid_discovery_document_is_an_error(metadata: dict[str, Any], reason: str) -> None:
    setup = Setup()
    setup.documents.metadata = metadata
    with pytest.raises(Unavailable, match=reason):
        run_sync(setup.issuer.metadata())


@pytest.mark.parametrize(
    "url",
    ["", "issuer.example", "http://issuer.example", "https://", "https://a:b@issuer.example", "https://a.example/#x"],
)
def test_an_issuer_has_an_https_url(url: str) -> None:
    with pytest.raises(ValueError, match="must be an https URL"):
        issuer_url(url)


def test_an_issuer_on_this_machine_may_have_an_http_url() -> None:
    assert issuer_url("http://127.0.0.1:8080/realms/x")
