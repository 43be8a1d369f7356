"""Compare the table of metrics in docs/operations.md with the metrics of a server that has all features."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from directory_server.web.metrics import DatabaseGauges

from ..web.conftest import open_server
from ._examples import ROOT

_NAME = re.compile(r"`(directory_\w+)(?:\{([^}]*)\})?`")

SETTINGS = {
    "embeddings.model": "any",
    "embeddings.url": "http://127.0.0.1:9/v1/embeddings",
    "traces.endpoint": "http://127.0.0.1:9",
    "verify.packages": True,
    "verify.remotes": True,
}
"""Settings with which all features have their metrics."""


def exposed(folder: Path) -> dict[str, set[str]]:
    """Return the names of the metrics of a server, each with the names of its labels."""
    with open_server(folder, SETTINGS) as server:
        registry: Any = server.application.metrics.registry
        registry.register(DatabaseGauges(lambda: True, lambda: 0))
        # A metric with labels has no sample before the first event.
        metrics = [
            (metric.name, metric.type, getattr(collector, "_labelnames", ()) or getattr(metric, "_labelnames", ()))
            for collector in registry._collector_to_names
            for metric in collector.collect()
        ]
    return {
        f"{name}_total" if kind == "counter" else name: set(labels)
        for name, kind, labels in metrics
        if not name.startswith("process_")
    }


def documented() -> dict[str, set[str]]:
    """Return the names in the first column of the table, each with the names of its labels."""
    _, _, rest = (ROOT / "docs" / "operations.md").read_text("utf-8").partition("| metric | meaning |\n|---|---|\n")
    columns = [row.split(" | ")[0] for row in rest.partition("\n\n")[0].splitlines()]
    found = [match for column in columns for match in _NAME.findall(column)]
    return {name: set(filter(None, labels.split(", "))) for name, labels in found}


def test_the_table_has_the_metrics_of_a_server_with_their_labels(tmp_path: Path) -> None:
    shown = {(name, *sorted(labels)) for name, labels in documented().items()}
    measured = {(name, *sorted(labels)) for name, labels in exposed(tmp_path).items()}
    assert measured - shown == set(), "docs/operations.md, table of metrics: these metrics with labels are missing"
    assert shown - measured == set(), "docs/operations.md, table of metrics: no server has these metrics with labels"
