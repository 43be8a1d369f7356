"""Signatures, filters and rules of webhooks."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve

from directory_server.domain.changes import Cause, Change, ChangeKind
from directory_server.domain.errors import BadInput
from directory_server.features.webhooks.rules import (
    DELAYS,
    KINDS,
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


def logged(kind: ChangeKind = "changed", cause: Cause = "document", **options: Any) -> Change:
    values = {"body": b"{}", "name": "a/b", **options}
    return Change(1, kind, "id", values.pop("body"), None, cause=cause, **values)


@pytest.mark.parametrize(
    ("change", "status", "kinds"),
    [
        (logged("added"), "active", ("added",)),
        (logged("added"), "deprecated", ("added", "deprecated")),
        (logged(), "active", ("changed",)),
        (logged(), "deprecated", ("changed",)),
        (logged(cause="status"), "deprecated", ("changed", "deprecated")),
        (logged("tools_changed", "tools"), "active", ("tools_changed",)),
        (logged("removed", body=None), "", ("deleted",)),
        # Its entry was removed since.
        (logged(body=None), "", ()),
        (logged("added", body=None), "", ()),
        (logged(cause="check"), "active", ()),
        (logged(cause="judgement"), "active", ()),
        (logged(cause="ending"), "active", ("ending",)),
        (logged(cause="package"), "active", ("package",)),
        (logged(cause="list", joined=("red",)), "active", ()),
        # In the log of an older version.
        (logged(cause=""), "active", ("changed",)),
    ],
)
def test_kinds_of_changes(change: Change, status: str, kinds: tuple[str, ...]) -> None:
    assert webhook().kinds_of(change, status) == kinds


def test_an_entry_that_joins_the_list_is_added_to_it() -> None:
    of_list = webhook(list_name="red")
    assert of_list.scope == frozenset({"red"})
    assert evolve(of_list, has_all=True).scope is webhook().scope is None
    assert of_list.kinds_of(logged(cause="list", joined=("blue", "red")), "deprecated") == ("added",)
    assert of_list.kinds_of(logged(cause="list", joined=("blue",)), "active") == ()


def test_filters_of_kinds_and_names() -> None:
    both = logged(cause="status")
    assert webhook(kinds=("deprecated", "added")).kinds_of(both, "deprecated") == ("changed", "deprecated")
    assert webhook(kinds=("deleted",)).kinds_of(both, "deprecated") == ()
    patterns = webhook(namespaces=("com.acme/*", "x/y"))
    assert patterns.kinds_of(logged("added", name="com.acme/mail"), "active") == ("added",)
    assert patterns.kinds_of(logged("added", name="com.acmes/mail"), "active") == ()
    assert patterns.kinds_of(logged("removed", name="x/y", body=None), "") == ("deleted",)


def test_other_kinds_of_entries_are_sent_to_those_who_ask_for_them() -> None:
    added = logged("added", name="com.acme/agent:routes", joined=("red",))
    selections: list[dict[str, Any]] = [
        {},
        {"keywords": "bicycle"},
        {"list_name": "red"},
        {"namespaces": ("com.acme/*",)},
    ]
    for options in selections:
        assert webhook(**options).kinds_of(added, "active") == ()
        options["keywords"] = "kind:agent"
        assert webhook(**options).kinds_of(added, "active") == ("added",)


def test_retries_take_hours_and_a_paused_webhook_is_tried_four_times_a_day() -> None:
    failing, at, times = webhook(), NOW, 0
    while failing.state(at) != "paused":
        next_at = failing.retry_at(at, 0.0)
        failing = evolve(failing, failures=failing.failures + 1, failing_since=NOW)
        at, times = next_at, times + 1
    assert (sum(DELAYS[:7]), times) == (13_870.0, 14)
    assert failing.retry_at(at, 0.0) == at + 21_600
    assert webhook().retry_at(NOW, 50.0) == NOW + 50
