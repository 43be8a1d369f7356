"""Roles of the persons of an issuer."""

from __future__ import annotations

import pytest

from directory_server.features.sign_in.rules import NotAllowed, person_of, with_user_info
from directory_server.features.sign_in.settings import IssuerConfig


@pytest.mark.parametrize(
    ("groups", "role"),
    [
        (["admins"], "operator"),
        (["revision"], "auditor"),
        (["revision", "admins"], "operator"),
        (["staff"], "member"),
        ([], "member"),
    ],
)
def test_the_groups_of_a_person_decide_her_role(groups: list[str], role: str) -> None:
    issuer = IssuerConfig(url="https://login.example.org", operators=("admins",), auditors=("revision",))
    claims = {"email": "ann@example.org", "email_verified": True, "groups": groups}
    assert person_of(issuer, "ann", claims).identity.role == role


def test_without_rules_of_roles_claims_decide_none() -> None:
    issuer = IssuerConfig(url="https://login.example.org")
    claims = {"email": "ann@example.org", "email_verified": True, "groups": ["admins"]}
    assert person_of(issuer, "ann", claims).identity.role is None


ANN, EVE = {"email": "ann@corp.example"}, {"email": "eve@evil.example"}
YES = {"email_verified": True}
ADDRESSES = [
    # The ID token, the userinfo, and the address with which the person signs in.
    ({**ANN, **YES}, {**EVE, **YES}, "ann@corp.example"),
    ({**ANN, **YES}, {"email_verified": False}, "ann@corp.example"),
    (ANN, {**EVE, **YES}, "eve@evil.example"),
    (ANN, {**ANN, **YES}, "ann@corp.example"),
    ({}, {**ANN, **YES}, "ann@corp.example"),
    ({**ANN, "email_verified": False}, {**EVE, **YES}, "eve@evil.example"),
    (ANN, YES, None),
    (YES, ANN, None),
    (YES, EVE, None),
    (ANN, {**EVE, "email_verified": None}, None),
    ({**EVE, "email": ["ann@corp.example"]}, YES, None),
    *(({**ANN, "email_verified": value}, {}, None) for value in (1, 1.0, "true", "1", [True], {"a": 1}, None, False)),
    *(({**ANN, "xms_edov": value}, {}, "ann@corp.example") for value in (True, "1")),
    *(({**ANN, "xms_edov": value}, {}, None) for value in (1, 1.0, "0", "true", False)),
]


@pytest.mark.parametrize(("token", "user_info", "address"), ADDRESSES)
def test_an_address_is_verified_by_the_document_that_has_it(
    token: dict[str, object], user_info: dict[str, object], address: str | None
) -> None:
    issuer = IssuerConfig(url="https://login.example.org", require=("email=ann@corp.example", "email=eve@evil.example"))
    claims = with_user_info(token, user_info)
    if address is None:
        with pytest.raises(NotAllowed) as error:
            person_of(issuer, "ann", claims)
        assert error.value.code == "email_not_verified"
    else:
        assert person_of(issuer, "ann", claims).email == address


def test_rules_of_addresses_read_the_address_of_the_person() -> None:
    issuer = IssuerConfig(url="https://login.example.org", require=("email=ann@corp.example",))
    with pytest.raises(NotAllowed):
        person_of(issuer, "ann", with_user_info(ANN, {**EVE, **YES}))
