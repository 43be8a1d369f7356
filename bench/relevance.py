"""Measure how well search finds: judged queries, and known items, which need no judge.

    python -m bench.relevance                               everything, beside what SQLite brings
    python -m bench.relevance --only ours --json a.json     our index alone, scores kept
    python -m bench.relevance --only ours --compare a.json  what changed since
    python -m bench.relevance --explain "github"            why each hit ranks where it does

nDCG@10: gain 2^grade - 1, discount log2(rank + 1), ideal from the judged list. Recall@50 is that of grade 3; `most` is
what fifty hits allow, since some queries have more answers. Reciprocal rank is that of the first hit of grade 2 or 3.
The intervals hold 95 % of the means of bootstrap samples of the same queries, with a fixed random seed.
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from attrs import frozen

from directory_server.domain.changes import Change
from directory_server.domain.entries import Entry
from directory_server.domain.ports.search import Index
from directory_server.domain.search import Query
from directory_server.run_sync import inline, run_sync
from directory_server.search import ImpactIndex, TextAnalysis
from directory_server.serialization import encode_entry

from ._baselines import DEPTH, Engine, baselines
from ._judged import DATA, Judged, read_entries, read_judged
from ._known import FORMS, KnownItem, known_items
from ._metrics import Grades, interval, mean, ndcg, recall, recall_bound, reciprocal_rank
from ._runs import EVERY, OURS, Scores, comparison, load, save
from ._tables import Group, decimal, lines, named, span

MEASURES: Mapping[str, Callable[[Sequence[str], Grades], float | None]] = {
    "nDCG@10": ndcg,
    "recall@50 of grade 3": recall,
    "reciprocal rank": reciprocal_rank,
}

KNOWN = "known items"

SHOWN = 3
"""Hits shown of a query that did badly."""


def our_index() -> Index:
    """Return the index that is measured, empty."""
    return ImpactIndex(inline)


@frozen
class Answer:
    """A judged query and the names each engine found for it, best first."""

    judged: Judged
    found: Mapping[str, Sequence[str]]


def main() -> None:
    options = _options()
    before = load(options.compare) if options.compare else None
    judged = {path.name: read_judged(path) for path in options.queries}
    wanted = _wanted(options.kind, judged)
    entries = read_entries(options.entries)
    index = our_index()
    began = time.perf_counter()
    analysis = TextAnalysis()
    run_sync(
        index.apply([Change(seq, "added", e.mcp_id, encode_entry(e), analysis(e)) for seq, e in enumerate(entries, 1)])
    )
    print(f"{len(index):,} entries, built in {time.perf_counter() - began:.1f} s")
    ours = _asking(index, entries)
    if options.explain is not None:
        print(*_explained(index, ours, options.explain), sep="\n")
        return

    engines = {OURS: ours, **(baselines(entries) if options.only == "all" else {})}
    run: dict[str, dict[str, dict[str, dict[str, float]]]] = {engine: {} for engine in engines}
    for name, queries in judged.items():
        if answers := [_answer(engines, query) for query in queries if query.kind in wanted]:
            print(f"\n{name}", *_table(answers, list(engines)), *_worst(answers, options.worst), sep="\n")
            for engine in engines:
                run[engine][name] = _scores(answers, engine)
    items = [item for item in known_items(entries, options.known, seed=options.seed) if item.form in wanted]
    if items:
        hits = [ours(item.q) for item in items]
        run[OURS][KNOWN] = _known_scores(items, hits)
        print(f"\n{KNOWN}: names that only one entry has", *_known_table(run[OURS]), sep="\n")
        print(*_missed(items, hits, options.worst), sep="\n")
    if options.json:
        save(run, options.json)
    if before is not None:
        print(*comparison(before[OURS], run[OURS], options.worst), sep="\n")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    queries = [DATA / "queries.jsonl", DATA / "needs.jsonl"]
    parser.add_argument("--entries", type=Path, default=DATA / "entries.jsonl.gz", help="gzipped, an entry a line")
    parser.add_argument(
        "--queries", type=Path, nargs="+", default=queries, metavar="FILE", help="a judged query a line"
    )
    parser.add_argument("--only", choices=("ours", "all"), default="all", help="our index alone, or the baselines too")
    parser.add_argument("--kind", nargs="+", metavar="K", help="only queries of these kinds, or known items so typed")
    parser.add_argument(
        "--worst", type=int, default=5, metavar="N", help="bad answers shown of each kind, changes of each file"
    )
    parser.add_argument("--known", type=int, default=500, metavar="N", help="known items; 0 leaves them out")
    parser.add_argument("--seed", type=int, default=0, help="draws the known items")
    parser.add_argument("--explain", metavar="QUERY", help="show why each hit ranks where it does, and no more")
    parser.add_argument("--json", type=Path, metavar="FILE", help="keep what each query scored")
    parser.add_argument("--compare", type=Path, metavar="FILE", help="compare with what --json kept of another run")
    return parser.parse_args()


def _wanted(kinds: Sequence[str] | None, judged: Mapping[str, Sequence[Judged]]) -> set[str]:
    known = dict.fromkeys([*(query.kind for queries in judged.values() for query in queries), *FORMS])
    for kind in kinds or ():
        if kind not in known:
            raise SystemExit(f"--kind: there is no kind {kind!r}; there are {', '.join(known)}")
    return set(kinds or known)


def _asking(index: Index, entries: Sequence[Entry]) -> Engine:
    names = {entry.mcp_id: entry.name for entry in entries}

    def search(q: str) -> Sequence[str]:
        return [names[hit.mcp_id] for hit in run_sync(index.search(Query(q, limit=DEPTH))).hits]

    return search


def _explained(index: Index, search: Engine, q: str) -> Iterator[object]:
    """Yield why each hit ranks where it does, as the index's own `explain(Query) -> str` tells, if it has one."""
    if explain := getattr(index, "explain", None):
        yield explain(Query(q, limit=10))
        return
    yield f"{type(index).__name__} has no method explain(query); it finds:"
    yield from (f"{rank:>4}  {name}" for rank, name in enumerate(search(q)[:10], 1))


def _answer(engines: Mapping[str, Engine], query: Judged) -> Answer:
    return Answer(query, {name: search(query.q) for name, search in engines.items()})


def _by_kind(answers: Sequence[Answer]) -> dict[str, list[Answer]]:
    kinds = defaultdict(list)
    for answer in answers:
        kinds[answer.judged.kind].append(answer)
    return kinds


def _table(answers: Sequence[Answer], engines: Sequence[str]) -> Iterator[str]:
    rows = {**_by_kind(answers), EVERY: answers}
    groups = [named(rows, [len(row) for row in rows.values()])]
    for heading, measure in MEASURES.items():
        measured = {
            engine: [[measure(answer.found[engine], answer.judged.grades) for answer in row] for row in rows.values()]
            for engine in engines
        }
        columns = [[engine, *(decimal(mean(row)) for row in measured[engine])] for engine in engines]
        columns.insert(1, ["95 %", *(span(interval(row)) for row in measured[OURS])])
        if measure is recall:
            bounds = ([recall_bound(answer.judged.grades) for answer in row] for row in rows.values())
            columns.append(["most", *(decimal(mean(row)) for row in bounds)])
        groups.append(Group(heading, columns))
    empty = [
        [engine, *(str(sum(not answer.found[engine] for answer in row)) for row in rows.values())] for engine in engines
    ]
    return lines([*groups, Group("no hit", empty)])


def _worst(answers: Sequence[Answer], count: int) -> Iterator[str]:
    for kind, row in _by_kind(answers).items():
        scored = sorted((ndcg(answer.found[OURS], answer.judged.grades), answer.judged.q, answer) for answer in row)
        for score, q, answer in scored[:count]:
            grades = answer.judged.grades
            hits = (f"{name} ({grades.get(name, 0)})" for name in answer.found[OURS][:SHOWN])
            yield f"  {kind}  {decimal(score)}  {q}\n      {', '.join(hits) or 'no hit'}"


def _scores(answers: Sequence[Answer], engine: str) -> dict[str, dict[str, float]]:
    return {
        kind: {answer.judged.q: ndcg(answer.found[engine], answer.judged.grades) for answer in row}
        for kind, row in _by_kind(answers).items()
    }


def _known_scores(items: Sequence[KnownItem], hits: Sequence[Sequence[str]]) -> dict[str, dict[str, float]]:
    scores: dict[str, dict[str, float]] = {item.form: {} for item in items}
    for item, found in zip(items, hits, strict=True):
        scores[item.form][f"{item.q} for {item.name}"] = float(item.found(found))
    return scores


def _known_table(scores: Scores) -> Iterator[str]:
    rows = {f"{form}, in the first {FORMS[form]}": list(row.values()) for form, row in scores[KNOWN].items()}
    columns = [
        ["share", *(decimal(mean(row)) for row in rows.values())],
        ["95 %", *(span(interval(row)) for row in rows.values())],
    ]
    return lines([named(rows, [len(row) for row in rows.values()]), Group("found", columns)])


def _missed(items: Sequence[KnownItem], hits: Sequence[Sequence[str]], count: int) -> Iterator[str]:
    for form in FORMS:
        missed = [pair for pair in zip(items, hits, strict=True) if pair[0].form == form and not pair[0].found(pair[1])]
        for item, found in missed[:count]:
            yield f"  {form}  {item.q}  means {item.name}\n      {', '.join(found[:SHOWN]) or 'no hit'}"


if __name__ == "__main__":
    main()
