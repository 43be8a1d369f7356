"""E-mail addresses of accounts."""

from __future__ import annotations

import pytest

from directory_server.domain.accounts import MAX_EMAIL, checked_email
from directory_server.domain.errors import BadInput


@pytest.mark.parametrize("email", ["ann@example.org", " Ann@Example.ORG ", "ANN@example.org\n"])
def test_normalizes_an_address(email: str) -> None:
    assert checked_email(email) == "ann@example.org"


def test_accepts_an_address_of_the_maximum_length() -> None:
    longest = f"{'a' * (MAX_EMAIL - 6)}@b.org"
    assert checked_email(longest) == longest


@pytest.mark.parametrize(
    "email", ["", "ann", "@example.org", "ann@", "a b@example.org", "a\nb@c", f"{'a' * (MAX_EMAIL - 5)}@b.org"]
)
def test_rejects_an_invalid_address(email: str) -> None:
    with pytest.raises(BadInput, match="email: must be an address such as") as caught:
        checked_email(email)
    assert caught.value.code == "email_wrong"
