"""Rules of API keys: labels, limits, expiry, grace periods and rotation."""

from __future__ import annotations

import math

import pytest

from directory_server.domain.errors import BadInput
from directory_server.domain.keys import (
    COUNTED_AFTER_END,
    MAX_LABEL,
    MAX_LIMIT,
    ApiKey,
    check_expiry,
    check_label,
    check_limit,
)

NOW = 1_000_000.0


def key(expires_at: float | None = None, revoked_at: float | None = None, shared: str | None = None) -> ApiKey:
    return ApiKey("id", "laptop", "abcd", 20, 0.0, expires_at, revoked_at, shared, shared)


@pytest.mark.parametrize("label", ["a", "Ann's laptop", "é" * MAX_LABEL])
def test_accepts_a_label(label: str) -> None:
    check_label(label)


@pytest.mark.parametrize("label", [" ", "a\tb", "é" * (MAX_LABEL + 1), "e" + "\u0301" * 9])
def test_rejects_a_label(label: str) -> None:
    with pytest.raises(BadInput, match="label: must be"):
        check_label(label)


def test_accepts_limits_and_no_limit() -> None:
    for limit in (1, MAX_LIMIT, None):
        check_limit(limit)


def test_accepts_an_expiry_in_the_future_and_none() -> None:
    check_expiry(NOW + 1, NOW)
    check_expiry(None, NOW)


@pytest.mark.parametrize(
    ("ended", "end"),
    [
        (key(), math.inf),
        (key(expires_at=5.0), 5.0),
        (key(revoked_at=0.0), 0.0),
        (key(expires_at=5.0, revoked_at=3.0), 3.0),
    ],
)
def test_a_key_ends_when_it_is_revoked_or_expires(ended: ApiKey, end: float) -> None:
    assert ended.ended_at == end


def test_an_ended_key_counts_for_an_hour_more() -> None:
    assert key().counts_at(NOW)
    assert key(revoked_at=NOW).counts_at(NOW + COUNTED_AFTER_END - 1)
    assert not key(revoked_at=NOW).counts_at(NOW + COUNTED_AFTER_END)


def test_a_shared_quota_is_charged_to_the_owner() -> None:
    assert key().quota_id == "id"
    assert key(shared="owner").quota_id == "owner"
