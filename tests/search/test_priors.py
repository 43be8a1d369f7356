"""What publishers and upstreams say of themselves bounds what it adds to a score."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve

from directory_server.domain.entries import OFFICIAL, PUBLISHER, Entry
from directory_server.search.index.document import LISTED, POPULAR, TOP_STARS, VENDOR, document
from tests.contract.index import an_entry


def prior(name: str = "org.example/mail", *, is_official: bool = False, meta: Any = None, **publisher: Any) -> float:
    said = an_entry(name, "Sends mail", _meta={PUBLISHER: publisher})
    return document(evolve(said, meta=meta or {}, is_official=is_official)).row.prior


@pytest.mark.parametrize("stars", [TOP_STARS, 1_000_000, 10**7])
def test_stars_add_no_more_than_those_of_a_very_popular_repository(stars: int) -> None:
    assert prior(stars=stars) == pytest.approx(POPULAR)


@pytest.mark.parametrize("stars", [10**18, 10**7 + 1, -5, True, "100", 1e6, None, [1]])
def test_stars_that_cannot_be_true_add_nothing(stars: Any) -> None:
    assert prior(stars=stars) == 0
    assert Entry({"_meta": {PUBLISHER: {"stars": stars}}}).stars is None


def test_more_stars_add_more_on_a_logarithmic_scale() -> None:
    assert [round(prior(stars=10**power), 2) for power in range(6)] == [0.01, 0.03, 0.06, 0.09, 0.12, 0.15]


def test_an_official_status_that_nobody_vouches_for_adds_nothing() -> None:
    claimed = {OFFICIAL: {"status": "active", "isLatest": True}}
    assert prior(meta=claimed) == 0
    assert prior(meta=claimed, is_official=True) == pytest.approx(LISTED)


def test_no_publisher_is_a_vendor_by_its_own_word() -> None:
    assert prior(vendorOfficial=True) == 0
    assert prior(vendorOfficial=True, is_official=True) == pytest.approx(LISTED)
    assert prior("com.stripe/stripe") == 0
    assert prior("com.stripe/stripe", is_official=True) == pytest.approx(LISTED + VENDOR)
