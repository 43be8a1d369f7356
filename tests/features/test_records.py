"""The records of features: each part that one names is there."""

from __future__ import annotations

import pytest

from directory_server.feature import Feature
from directory_server.features import FEATURES

PARTS = "web", "command", "run", "trail"


@pytest.mark.parametrize("feature", FEATURES, ids=lambda feature: feature.name)
def test_the_parts_that_a_feature_names_are_there(feature: Feature) -> None:
    references = [reference for part in PARTS if (reference := getattr(feature, part))]
    assert references
    for reference in references:
        assert feature.part(reference) is not None
    if feature.runs_if:
        assert hasattr(feature.settings, feature.runs_if)
