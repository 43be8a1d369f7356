"""Signatures, filters and rules of webhooks."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve

from directory_server.domain.errors import BadInput
from directory_server.features.webhooks.rules import (
    DELAYS,
    KINDS,
    WebhookChange,
    new_secret,
    new_webhook,
    signature,
)

from .stubs import NOW, webhook

VECTOR = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


def test_a_signature_is_that_of_the_example_of_standard_webhooks() -> None:
    signed = signature([VECTOR], "msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, b'{"test": 2432232314}')
    assert signed == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_a_message_has_a_signature_of_each_secret() -> None:
    first, second = new_secret(), new_secret()
    signed = signature([first, second], "msg_1", 7, b"{}").split(" ")
    assert signed == [signature([first], "msg_1", 7, b"{}"), signature([second], "msg_1", 7, b"{}")]
    assert signature([first], "msg_1", 8, b"{}") != signed[0]
    assert signature([first], "msg_2", 7, b"{}") != signed[0]


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"label": "\n"}, "label"),
        ({"url": "http://a.example/"}, "url"),
        ({"url": "ftp://a.example/"}, "url"),
        ({"url": "https://user:secret@a.example/"}, "url"),
        ({"url": "https://a.example:22/"}, "url"),
        ({"url": "https://a.example/{x}"}, "url"),
        ({"url": "https://" + "a" * 2_000}, "url"),
        ({"kinds": ["renamed"]}, "kinds"),
        ({"namespaces": ["a b"]}, "namespaces"),
        ({"namespaces": ["x/*"] * 21}, "namespaces"),
        ({"namespaces": ["x\u202e/*"]}, "namespaces"),
        ({"keywords": "x" * 257}, "keywords"),
        ({"keywords": "a\0"}, "keywords"),
    ],
)
def test_an_invalid_webhook_is_rejected_with_the_name_of_the_field(options: dict[str, Any], field: str) -> None:
    values = {"label": "x", "url": "https://a.example/", "kinds": (), "namespaces": (), "keywords": "", **options}
    with pytest.raises(BadInput) as raised:
        new_webhook(**values, now=NOW, seq=0, allows_http=False)
    assert raised.value.message.startswith(f"{field}: ")
    assert "secret" not in raised.value.message


def test_http_is_allowed_where_the_operator_allows_networks() -> None:
    values: dict[str, Any] = {"label": "x", "kinds": (), "namespaces": (), "keywords": "", "now": NOW, "seq": 0}
    assert new_webhook(url="http://10.0.0.1:8080/", allows_http=True, **values).kinds == KINDS


def test_filters_of_kinds_and_names() -> None:
    both = WebhookChange(1, "a/b", ("changed", "deprecated"))
    assert webhook(kinds=("deprecated", "added")).kinds_of(both) == ("changed", "deprecated")
    assert webhook(kinds=("deleted",)).kinds_of(both) == ()
    patterns = webhook(namespaces=("com.acme/*", "x/y"))
    assert patterns.kinds_of(WebhookChange(1, "com.acme/mail", ("added",))) == ("added",)
    assert patterns.kinds_of(WebhookChange(1, "com.acmes/mail", ("added",))) == ()


@pytest.mark.parametrize(
    ("kinds", "before", "after", "sent"),
    [
        (("changed",), "red", "red", ("changed",)),
        (("changed",), "blue", "blue", ()),
        (("deleted",), "red blue", "red blue", ("deleted",)),
        (("changed", "deprecated"), "", "red", ("added",)),
        ((), "blue", "blue red", ("added",)),
        (("tools_changed",), "red blue", "blue", ("deleted",)),
        ((), "red", "red blue", ()),
    ],
)
def test_a_webhook_of_a_list_gets_changes_of_its_entries(
    kinds: tuple[str, ...], before: str, after: str, sent: tuple[str, ...]
) -> None:
    change = WebhookChange(1, "a/b", kinds, frozenset(before.split()), frozenset(after.split()))
    of_list = webhook(list_name="red")
    assert of_list.kinds_of(change) == sent
    # A list of all entries has no entries of its own.
    assert evolve(of_list, has_all=True).kinds_of(change) == kinds
    assert webhook().kinds_of(change) == kinds


def test_retries_take_hours_and_a_paused_webhook_is_tried_four_times_a_day() -> None:
    failing, at, times = webhook(), NOW, 0
    while failing.state(at) != "paused":
        next_at = failing.retry_at(at, 0.0)
        failing = evolve(failing, failures=failing.failures + 1, failing_since=NOW)
        at, times = next_at, times + 1
    assert (sum(DELAYS[:7]), times) == (13_870.0, 14)
    assert failing.retry_at(at, 0.0) == at + 21_600
    assert webhook().retry_at(NOW, 50.0) == NOW + 50
