"""The records of features: each part that one names is there."""

from __future__ import annotations

import pytest

from directory_server.command_line import SECTIONS
from directory_server.feature import Feature
from directory_server.features import FEATURES

PARTS = "settings", "web", "command", "run", "trail"


@pytest.mark.parametrize("feature", FEATURES, ids=lambda feature: feature.name)
def test_the_parts_that_a_feature_names_are_there(feature: Feature) -> None:
    references = [reference for part in PARTS if (reference := getattr(feature, part))]
    assert references or feature.resources
    for reference in references:
        assert feature.part(reference) is not None
    names = {feature.part(reference).command.split()[0] for reference in feature.resources}
    if feature.command:
        names.add(feature.part(feature.command).name)
    assert names == set(feature.commands)
    assert not names or feature.section in SECTIONS
    if feature.runs_if:
        assert hasattr(feature.part(feature.settings), feature.runs_if)
