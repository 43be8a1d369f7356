"""Roles of the persons of an issuer."""

from __future__ import annotations

import pytest

from directory_server.features.sign_in.rules import person_of
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
    assert person_of(issuer, "ann", claims).role == role


def test_without_rules_of_roles_claims_decide_none() -> None:
    issuer = IssuerConfig(url="https://login.example.org")
    claims = {"email": "ann@example.org", "email_verified": True, "groups": ["admins"]}
    assert person_of(issuer, "ann", claims).role is None
