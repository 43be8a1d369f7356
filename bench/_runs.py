"""Runs of the benchmark, kept so that two can be compared query by query."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from ._metrics import interval, mean
from ._tables import Group, decimal, lines, named, signed, span

Scores = Mapping[str, Mapping[str, Mapping[str, float]]]
"""By set and kind of queries: what each query scored."""

Run = Mapping[str, Scores]
"""By engine: what it scored."""

OURS = "ours"

EVERY = "all"
"""The kind that all queries are of."""


def save(run: Run, path: Path) -> None:
    path.write_text(json.dumps(run, ensure_ascii=False, indent=1) + "\n", "utf-8")


def load(path: Path) -> Run:
    """Return the run in a file of `save`. Exits with a message where there is none."""
    try:
        run: Run = json.loads(path.read_text("utf-8"))
        run[OURS]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SystemExit(f"{path} holds no run to compare with ({error!r}): write one with --json {path}") from None
    return run


def comparison(before: Scores, now: Scores, changes: int) -> Iterator[str]:
    """Yield lines that tell how the queries that both runs asked fare now, and which `changes` changed most."""
    for name, kinds in now.items():
        asked_before = before.get(name, {})
        pairs = {kind: _pairs(asked_before.get(kind, {}), scores) for kind, scores in kinds.items()}
        pairs = {kind: both for kind, both in pairs.items() if both}
        yield f"\n{name}: the difference to the run before, with the 95 % interval of a paired bootstrap"
        if not pairs:
            yield "no query in common"
            continue
        rows = {**pairs, EVERY: {f"{kind}: {q}": both for kind, pair in pairs.items() for q, both in pair.items()}}
        yield from _table(rows)
        moved = sorted(rows[EVERY].items(), key=lambda row: (-abs(row[1][1] - row[1][0]), row[0]))
        for q, (was, is_now) in moved[:changes]:
            if was != is_now:
                yield f"  {decimal(was)} → {decimal(is_now)}  {q}"


def _pairs(before: Mapping[str, float], now: Mapping[str, float]) -> Mapping[str, tuple[float, float]]:
    return {q: (before[q], score) for q, score in now.items() if q in before}


def _table(rows: Mapping[str, Mapping[str, tuple[float, float]]]) -> Iterator[str]:
    pairs = [list(row.values()) for row in rows.values()]
    changes = [[now - before for before, now in row] for row in pairs]
    return lines(
        [
            named(rows, [len(row) for row in pairs]),
            Group(
                "mean",
                [
                    ["before", *(decimal(mean([before for before, _ in row])) for row in pairs)],
                    ["now", *(decimal(mean([now for _, now in row])) for row in pairs)],
                    ["change", *(signed(mean(row)) for row in changes)],
                    ["95 %", *(span(interval(row), signed) for row in changes)],
                ],
            ),
            Group(
                "queries",
                [
                    ["better", *(str(sum(change > 0 for change in row)) for row in changes)],
                    ["worse", *(str(sum(change < 0 for change in row)) for row in changes)],
                ],
            ),
        ]
    )
