"""Collect the candidates of queries from several engines, for grading by reading, and merge the grades into a set.

    python -m bench.pool new.jsonl --out pool.txt                                      collect the candidates
    python -m bench.pool new.jsonl --out pool.txt --grades grades.jsonl --set cjk.jsonl  merge the grades

The queries file has one JSON document per line: `query`, `kind`, `language`, and `english` for a query in another
language. The candidates are the first hits of our index, SQLite FTS5 (words and trigrams) and tantivy for the query,
and of FTS5 and tantivy for its translation. Their order comes from a hash, so it does not show the engine or the rank.

A pool has one line `= QUERY` per query, then one line per candidate: number, name, title, description. The grades file
has one JSON document per line: the query, and the numbers of the candidates by grade. Omitted candidates have grade 0:
`{"query": "…", "3": [4, 17], "2": [5], "1": []}`.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import evolve

from directory_server.domain.entries import Entry

from .catalogue.files import REAL, read_entries
from .catalogue.sets import GradedQuery, read_set, write_set
from .engines.baselines import Engine, any_trigram, any_word, full_text, tantivy_engine
from .engines.ours import our_engine, our_index

FIRST = 30
"""Hits of each engine that become candidates."""

LONGEST = 300
"""Characters of a candidate's texts in the pool."""

GRADES = ("3", "2", "1")


def main() -> None:
    options = _options()
    queries = read_set(options.queries)
    if options.grades is None:
        entries = read_entries(options.entries)
        texts = {entry.name: f"{facts_of(entry) if options.facts else ''}{text_of(entry)}" for entry in entries}
        original, translated = _engines(entries)
        collected = {each.query: candidates(each, original, translated) for each in queries}
        options.out.write_text("".join(f"{line}\n" for line in pool_lines(collected, texts, options.cut)), "utf-8")
        print(f"{len(collected)} queries, {sum(map(len, collected.values()))} candidates in {options.out}")
        return
    pools = parse_pool(options.out.read_text("utf-8").split("\n"))
    rows = [json.loads(line) for line in options.grades.read_text("utf-8").splitlines() if line.strip()]
    graded = merge(queries, pools, rows)
    for each in graded:
        if max(each.grades.values(), default=0) < 2:
            print(f"no candidate of grade 2 or 3, replace the query: {each.query}", file=sys.stderr)
    if options.set:
        write_set(options.set, graded)
        print(f"{len(graded)} queries in {options.set}")


def candidates(
    query: GradedQuery, original: Iterable[Engine], translated: Iterable[Engine], first: int = FIRST
) -> Sequence[str]:
    """Return the names of the first hits of the engines, ordered by a hash of the query and the name.

    `original` searches for the query, `translated` for its English translation, if there is one.
    """
    names = {name for engine in original for name in engine(query.query)[:first]}
    if query.english:
        names |= {name for engine in translated for name in engine(query.english)[:first]}
    return sorted(names, key=lambda name: hashlib.sha256(f"{query.query}\n{name}".encode()).digest())


def text_of(entry: Entry) -> str:
    """Return the title and the descriptions of an entry in one line, without repetitions."""
    brief = entry.brief.rstrip("…").rstrip()
    parts = [entry.title, "" if entry.long_description.startswith(brief) else entry.brief, entry.long_description]
    return " · ".join(dict.fromkeys(" ".join(part.split()) for part in parts if part))


def facts_of(entry: Entry) -> str:
    """Return the facts that conditions ask for: how the server runs, its secrets, licence and programming language."""
    inputs = [each for package in entry.packages for each in package.get("environmentVariables") or ()]
    inputs += [each for remote in entry.remotes for each in remote.get("headers") or ()]
    facts = [
        *(f"package {each.get('registryType')}" for each in entry.packages),
        *(f"remote {each.get('type')}" for each in entry.remotes),
        *(f"secret {each.get('name')}" for each in inputs if isinstance(each, dict) and each.get("isSecret")),
        *(str(entry.publisher[key]) for key in ("license", "language") if entry.publisher.get(key)),
    ]
    return f"[{', '.join(dict.fromkeys(facts))}] "


def pool_lines(pools: Mapping[str, Sequence[str]], texts: Mapping[str, str], cut: int = LONGEST) -> Iterator[str]:
    """Yield the lines of a pool: queries, and their candidates with numbers from 1."""
    for query, names in pools.items():
        yield f"= {query}"
        for number, name in enumerate(names, 1):
            yield f"{number} {name} · {texts[name][:cut]}"


def parse_pool(lines: Iterable[str]) -> Mapping[str, Sequence[str]]:
    """Return the names of the candidates by query, from the lines of a pool."""
    pools: dict[str, list[str]] = {}
    names: list[str] = []
    for line in lines:
        if line.startswith("= "):
            names = pools[line[2:]] = []
        elif line:
            names.append(line.partition(" · ")[0].partition(" ")[2])
    return pools


def merge(
    queries: Sequence[GradedQuery], pools: Mapping[str, Sequence[str]], rows: Iterable[Mapping[str, Any]]
) -> Sequence[GradedQuery]:
    """Return the queries that have grades, with these. Exits with a message for a query or number that is not pooled.

    Exits also if a candidate has two grades.
    """
    graded: dict[str, dict[str, int]] = {}
    for row in rows:
        query = str(row.get("query"))
        if query not in pools or set(row) - {"query", *GRADES}:
            raise SystemExit(f"grades: the query is not in the pool, or the row has other fields: {row}")
        numbers = [(number, int(grade)) for grade in GRADES for number in row.get(grade, ())]
        if len(dict(numbers)) < len(numbers) or not all(1 <= number <= len(pools[query]) for number, _ in numbers):
            raise SystemExit(f"grades: a candidate has two grades or does not exist: {row}")
        graded[query] = {pools[query][number - 1]: grade for number, grade in numbers}
    return [evolve(each, grades=graded[each.query]) for each in queries if each.query in graded]


def _engines(entries: Sequence[Entry]) -> tuple[Sequence[Engine], Sequence[Engine]]:
    words = [full_text(entries, "porter unicode61", any_word)]
    if tantivy := tantivy_engine(entries):
        words.append(tantivy)
    else:
        print("tantivy is skipped: `pip install tantivy` installs it", file=sys.stderr)
    ours = our_engine(our_index(entries), entries)
    return [ours, full_text(entries, "trigram", any_trigram), *words], words


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("queries", type=Path, metavar="QUERIES_FILE", help="JSON Lines of queries")
    parser.add_argument("--out", type=Path, required=True, metavar="POOL_FILE", help="the pool")
    parser.add_argument("--cut", type=int, default=LONGEST, metavar="N", help="characters of a candidate's texts")
    parser.add_argument("--facts", action="store_true", help="begin each text with packages, remotes, secrets, licence")
    parser.add_argument("--grades", type=Path, metavar="GRADES_FILE", help="merge these grades instead of pooling")
    parser.add_argument("--set", type=Path, metavar="SET_FILE", help="the set to write, when merging")
    parser.add_argument("--entries", type=Path, default=REAL, help="gzipped JSON Lines of entries")
    return parser.parse_args()


if __name__ == "__main__":
    main()
