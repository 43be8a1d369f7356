"""The dashboard of Grafana: valid, and only with metrics that the server has."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from ..docs._examples import ROOT
from ..docs.test_metrics_table import documented

DASHBOARD: Any = json.loads((ROOT / "deploy" / "grafana" / "directory-server.json").read_text("utf-8"))
PANELS: list[Any] = DASHBOARD["panels"]
EXPRESSIONS: list[str] = [target["expr"] for panel in PANELS for target in panel["targets"]]

PROCESS = {
    "process_resident_memory_bytes",
    "process_cpu_seconds_total",
    "process_open_fds",
    "process_max_fds",
}
"""Metrics of the client library for processes on Linux."""

_METRIC = re.compile(r"\b((?:directory|process)_\w+)(?:\{([^}]*)\})?")
_SUFFIX = re.compile(r"_(bucket|sum|count)$")
_LABEL = re.compile(r'(\w+)=~?"')


def test_the_dashboard_shows_metrics_that_servers_have() -> None:
    used = {_SUFFIX.sub("", name) for expression in EXPRESSIONS for name, _ in _METRIC.findall(expression)}
    assert used - set(documented()) - PROCESS == set()


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_an_expression_is_balanced_and_has_known_labels(expression: str) -> None:
    for opening, closing in ("()", "{}", "[]"):
        assert expression.count(opening) == expression.count(closing)
    for name, selector in _METRIC.findall(expression):
        labels = documented().get(_SUFFIX.sub("", name), set()) | {"instance"}
        assert set(_LABEL.findall(selector)) <= labels
    for group in re.findall(r"by \(([^)]*)\)", expression):
        assert set(group.split(", ")) <= set().union(*documented().values()) | {"le", "instance"}


def test_panels_have_ids_and_places_of_their_own() -> None:
    assert len({panel["id"] for panel in PANELS}) == len(PANELS)
    cells = [
        (x, y)
        for panel in PANELS
        for place in (panel["gridPos"],)
        for x in range(place["x"], place["x"] + place["w"])
        for y in range(place["y"], place["y"] + place["h"])
    ]
    assert len(set(cells)) == len(cells)
    assert max(x for x, _ in cells) < 24


def test_the_data_source_is_chosen_in_grafana() -> None:
    assert {each["name"] for each in DASHBOARD["templating"]["list"]} == {"datasource", "instance"}
    for panel in PANELS:
        for source in (panel["datasource"], *(target["datasource"] for target in panel["targets"])):
            assert source == {"type": "prometheus", "uid": "${datasource}"}
