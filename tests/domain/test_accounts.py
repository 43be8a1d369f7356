"""E-mail addresses of accounts."""

from __future__ import annotations

from email import message_from_bytes
from email.utils import getaddresses

import pytest
from hypothesis import given
from hypothesis.strategies import text

from directory_server.domain.accounts import MAX_EMAIL, checked_email
from directory_server.domain.errors import BadInput
from directory_server.features.requests.service import message_of


@pytest.mark.parametrize("email", ["ann@example.org", " Ann@Example.ORG ", "ANN@example.org\n"])
def test_normalizes_an_address(email: str) -> None:
    assert checked_email(email) == "ann@example.org"


def test_accepts_an_address_of_the_maximum_length() -> None:
    longest = f"{'a' * (MAX_EMAIL - 6)}@b.org"
    assert checked_email(longest) == longest


VALID = [
    "ann@example.org",
    "o'brien+x@sub.example.org",
    "a.b-c_d@e-f.example",
    "ann@localhost",
    "1@2.example",
    "#!$%&*/=?^`{|}~@example.org",
]


@pytest.mark.parametrize("email", VALID)
def test_mail_programs_read_an_accepted_address_as_one_address(email: str) -> None:
    message = message_of("directory@example.org", checked_email(email), "Hello", "Hi.", 0.0)
    [(_, address)] = getaddresses([str(message_from_bytes(message)["To"])])
    assert address == email


@pytest.mark.parametrize(
    "email",
    [
        "",
        "ann",
        "@example.org",
        "ann@",
        "m@[x",
        "=?utf-8?q?a=0d=0ab?=@x.example",
        "=?utf-8?q?boss=40corp.example=2c?=@x.example",
        "m@[192.0.2.1]",
        "ann@corp.example,evil@x.example",
        "a:b;@x",
        "Ann <ann@example.org>",
        "<ann@example.org>",
        '"ann"@example.org',
        "ann(x)@example.org",
        "ann@example.org@evil.example",
        ".ann@example.org",
        "ann.@example.org",
        "a..b@example.org",
        "ann@example..org",
        "ann@.example.org",
        "ann@example.org.",
        "ann@-example.org",
        "ann@example-.org",
        "ann@exa_mple.org",
        f"ann@{'a' * 64}.org",
        "a b@example.org",
        "ann@example.org\nBcc: eve@example.org",
        "ann\0@example.org",
        "ann\x7f@example.org",
        "j\u00f6rg@example.org",
        "ann@b\u00fccher.example",
        # In lower case they would be ASCII, or look so.
        "\u212aate@example.org",
        "\u0430nn@example.org",
        "ann\u200b@example.org",
        "a" * (MAX_EMAIL - 5) + "@b.org",
    ],
)
def test_rejects_what_mail_programs_read_otherwise(email: str) -> None:
    with pytest.raises(BadInput, match="must be an address such as"):
        checked_email(email)


@given(text(alphabet='ab@[]()<>,;:\\". \n\0-_!\u212a\udc80', max_size=12))
def test_a_message_to_an_accepted_address_is_written(email: str) -> None:
    try:
        address = checked_email(email)
    except BadInput:
        return
    assert f"To: {address}\n".encode() in message_of("d@example.org", address, "Hello", "Hi.", 0.0)
