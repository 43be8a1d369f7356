"""Priors: claims of publishers and upstreams add a bounded score."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve

from directory_server.domain.entries import OFFICIAL, PUBLISHER, Entry
from directory_server.search.index.document import (
    MAX_STARS,
    OFFICIAL_PRIOR,
    PUBLISHER_PRIOR,
    STARS_PRIOR,
    VENDOR_PRIOR,
    build_document,
)
from tests.contract.index import make_entry


def prior(name: str = "org.example/mail", *, is_official: bool = False, meta: Any = None, **publisher: Any) -> float:
    entry = make_entry(name, "Sends mail", _meta={PUBLISHER: publisher})
    return build_document(evolve(entry, meta=meta or {}, is_official=is_official)).row.prior


@pytest.mark.parametrize("stars", [MAX_STARS, 1_000_000, 10**7])
def test_prior_of_stars_is_bounded(stars: int) -> None:
    assert prior(stars=stars) == pytest.approx(STARS_PRIOR)


@pytest.mark.parametrize("stars", [10**18, 10**7 + 1, -5, True, "100", 1e6, None, [1]])
def test_invalid_stars_add_nothing(stars: Any) -> None:
    assert prior(stars=stars) == 0
    assert Entry({"_meta": {PUBLISHER: {"stars": stars}}}).stars is None


def test_more_stars_add_more_on_a_logarithmic_scale() -> None:
    assert [round(prior(stars=10**power), 2) for power in range(6)] == [0.01, 0.03, 0.06, 0.09, 0.12, 0.15]


def test_unverified_official_status_adds_nothing() -> None:
    claimed = {OFFICIAL: {"status": "active", "isLatest": True}}
    assert prior(meta=claimed) == 0
    assert prior(meta=claimed, is_official=True) == pytest.approx(OFFICIAL_PRIOR + PUBLISHER_PRIOR)


def test_vendor_needs_an_official_listing() -> None:
    assert prior(vendorOfficial=True) == 0
    assert prior(vendorOfficial=True, is_official=True) == pytest.approx(OFFICIAL_PRIOR + PUBLISHER_PRIOR)
    assert prior("com.stripe/stripe") == 0
    assert prior("com.stripe/stripe", is_official=True) == pytest.approx(
        OFFICIAL_PRIOR + PUBLISHER_PRIOR + VENDOR_PRIOR
    )
