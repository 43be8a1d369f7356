"""Compare the table of metrics in docs/operations.md with the metrics of a scrape."""

from __future__ import annotations

import re
from typing import Any

from directory_server.domain.checks import RemoteStatus, VerifiedStatus
from directory_server.domain.upstreams import UpstreamState
from directory_server.features.verification.results import RemoteCheck
from directory_server.features.verification.targets import Target, TargetKind

from ._examples import ROOT

_NAME = re.compile(r"`(directory_\w+)(?:\{([^}]*)\})?`")


class _Source(list[None]):
    """An empty index, hub and set of connections."""

    generation = cuts = 0


class _Checks(list[None]):
    """No running checks."""

    due = 0


def exposed() -> dict[str, set[str]]:
    """Return the names of the metrics of a scrape, each with the names of its labels."""
    from directory_server.features.embeddings.service import EmbeddingMetrics
    from directory_server.features.embeddings.vectors import Vectors
    from directory_server.features.requests.service import states_gauge
    from directory_server.features.traces.service import dropped_spans
    from directory_server.features.verification.checks import Checked
    from directory_server.features.verification.service import CheckMetrics
    from directory_server.features.webhooks.service import WebhookMetrics
    from directory_server.web.access_log import AccessRecord
    from directory_server.web.metrics import DatabaseGauges, Gauges, Metrics

    metrics, source = Metrics(), _Source()
    metrics.observe([AccessRecord(0.0, "GET", "/healthz", 503, 5, 0.1, None, "1", ("unavailable",))])
    any_source: Any = source
    metrics.registry.register(
        Gauges(any_source, any_source, [], lambda: [UpstreamState("a")], lambda: {"directory": True})
    )
    metrics.registry.register(DatabaseGauges(lambda: True, lambda: 0))
    metrics.database.labels("charges").observe(0.001)
    target = Target("x/a", TargetKind.REMOTE, "sse", "https://a.example")
    check = RemoteCheck(target.identifier, target.type, 0.0, RemoteStatus.WORKS)
    EmbeddingMetrics(metrics.registry).watch(Vectors(), lambda: False)
    dropped_spans(metrics.registry)
    states_gauge(metrics.registry).labels("quota", "open")
    WebhookMetrics(metrics.registry).watch(lambda: [], lambda: 0.0)
    checks = CheckMetrics(metrics.registry)
    checks.observe(Checked(target, check, 0.1, is_change=False))
    checks.watch(lambda: {VerifiedStatus.WORKS: 1}, _Checks())  # type: ignore[arg-type]
    names: dict[str, set[str]] = {}
    for metric in metrics.registry.collect():
        if not metric.name.startswith("process_"):
            name = f"{metric.name}_total" if metric.type == "counter" else metric.name
            names[name] = {label for sample in metric.samples for label in sample.labels} - {"le"}
    return names


def documented() -> dict[str, set[str]]:
    """Return the names in the first column of the table, each with the names of its labels."""
    _, _, rest = (ROOT / "docs" / "operations.md").read_text("utf-8").partition("| metric | meaning |\n|---|---|\n")
    columns = [row.split(" | ")[0] for row in rest.partition("\n\n")[0].splitlines()]
    found = [match for column in columns for match in _NAME.findall(column)]
    return {name: set(filter(None, labels.split(", "))) for name, labels in found}


def test_the_table_has_the_metrics_of_a_scrape_with_their_labels() -> None:
    shown = {(name, *sorted(labels)) for name, labels in documented().items()}
    measured = {(name, *sorted(labels)) for name, labels in exposed().items()}
    assert measured - shown == set(), "docs/operations.md, table of metrics: these metrics with labels are missing"
    assert shown - measured == set(), "docs/operations.md, table of metrics: no scrape has these metrics with labels"
