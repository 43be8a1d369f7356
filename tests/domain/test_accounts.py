"""E-mail addresses of accounts."""

from __future__ import annotations

import pytest

from directory_server.domain.accounts import MAX_EMAIL, checked_email


@pytest.mark.parametrize("email", ["ann@example.org", " Ann@Example.ORG ", "ANN@example.org\n"])
def test_normalizes_an_address(email: str) -> None:
    assert checked_email(email) == "ann@example.org"


def test_accepts_an_address_of_the_maximum_length() -> None:
    longest = f"{'a' * (MAX_EMAIL - 6)}@b.org"
    assert checked_email(longest) == longest
