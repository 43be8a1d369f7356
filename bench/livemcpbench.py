"""Measure relevance on LiveMCPBench (github.com/icip-cas/LiveMCPBench), which is not part of the project.

    python -m bench.livemcpbench PATH               nDCG@10 of our index on the six sets
    python -m bench.livemcpbench PATH --out DIR     also write the sets and the own catalogue, to measure other engines

PATH is a checkout of the benchmark, or the git directory of one. Its queries are of three kinds:

tasks   the tasks. Relevant are the servers of the tools that people annotated.
steps   the steps of each task that has one step for each annotated tool. Relevant are the servers of that tool.
routes  the texts that the agent of the published run (claude-sonnet-4) typed into its search of tools. Relevant are
        the servers of its task.

All servers that have a tool of the annotated name are relevant, with grade 3. Equal texts are one query. Each kind is
measured in two catalogues:

whole   the entries of --entries. Relevant entries have the repository and folder, or the package, of a relevant
        server. Queries without such an entry are left out.
own     one entry for each server of the benchmark, with the tools that the benchmark lists. It is the entry of the
        whole catalogue if there is one, else one with the texts of the benchmark.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from attrs import evolve, frozen

from directory_server.domain.details import repository_key
from directory_server.domain.entries import PUBLISHER, Entry, as_mapping, as_text
from directory_server.texts.sanitize import shorten

from .catalogue.files import REAL, Judged, read_entries
from .engines.ours import our_engine, our_index
from .measurement.relevance_metrics import BEST, interval, mean, ndcg
from .reports.relevance_report import OURS, Group, decimal, kinds_group, span, table_lines

TASKS = "annotated_data/all_annotations.json"
TOOLS = "tools/LiveMCPTool/tools.json"
RUN = "baseline/output/claude-sonnet-4-20250514_Qwen3-Embedding-0.6B.json"

CORRECTIONS = {"Airbnb MCP Server": "https://github.com/openbnb-org/mcp-server-airbnb"}
"""The repositories of servers for which the benchmark states that of another project, by name."""

_NUMBERED = re.compile(r"^\s*\d+\.\s*(.*\S)", re.MULTILINE)


@frozen
class BenchServer:
    """A server of the benchmark: its record there, its entry in the own catalogue, and its names in the whole one."""

    record: Mapping[str, Any]
    own: Entry
    names: Sequence[str]

    def gold(self, form: str) -> Sequence[str]:
        """Return the names of its entries in a catalogue."""
        return self.names if form == "whole" else [self.own.name]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", type=Path, metavar="PATH", help="checkout or git directory of LiveMCPBench")
    parser.add_argument("--entries", type=Path, default=REAL, help="gzipped JSON Lines of entries")
    parser.add_argument("--out", type=Path, metavar="DIR", help="folder for the sets and the own catalogue")
    options = parser.parse_args()
    tasks, records, run = (read_json(options.path, name) for name in (TASKS, TOOLS, RUN))
    whole = read_entries(options.entries)
    servers = bench_servers(records, whole)
    sets = relevance_sets(tasks, run, servers)
    own = [server.own for server in servers]
    print(f"{sum(bool(server.names) for server in servers)} of {len(servers)} servers are in the catalogue")
    if options.out:
        write_sets(options.out, sets, own)
    engines = {"whole": our_engine(our_index(whole), whole), "own": our_engine(our_index(own), own)}
    scores: dict[str, Sequence[float]] = {}
    for name, queries in sets.items():
        engine = engines[name.rpartition("_")[2]]
        scores[name] = [ndcg(engine(query.q), query.grades) for query in queries]
    columns = [
        [OURS, *(decimal(mean(row)) for row in scores.values())],
        ["95 %", *(span(interval(row)) for row in scores.values())],
    ]
    counts = [len(row) for row in scores.values()]
    print(*table_lines([kinds_group(scores, counts), Group("nDCG@10", columns)]), sep="\n")


def read_json(path: Path, name: str) -> Any:
    """Return the JSON document `name` of a checkout or a git directory. Exits with a message if there is none."""
    if (path / name).is_file():
        return json.loads((path / name).read_bytes())
    shown = subprocess.run(["git", "-C", str(path), "show", f"HEAD:{name}"], capture_output=True, check=False)
    if shown.returncode:
        raise SystemExit(
            f"{path} has no file {name}. PATH must be a checkout or a git directory of "
            "https://github.com/icip-cas/LiveMCPBench."
        )
    return json.loads(shown.stdout)


def bench_servers(records: Sequence[Mapping[str, Any]], whole: Sequence[Entry]) -> Sequence[BenchServer]:
    """Return the servers of the benchmark, matched with the entries of the whole catalogue."""
    by_place, by_package = defaultdict(list), defaultdict(list)
    for entry in whole:
        repository = as_mapping(entry.server.get("repository"))
        by_place[_place(as_text(repository.get("url")), as_text(repository.get("subfolder")))].append(entry)
        for package in {(as_text(row.get("registryType")), as_text(row.get("identifier"))) for row in entry.packages}:
            by_package[package].append(entry)
    by_place["", ""], by_package["", ""] = [], []  # entries without a repository or a package
    servers = []
    for record in records:
        place = _place(CORRECTIONS.get(record["name"], record["web"]))
        entries = [*by_place[place], *by_package[_package(record)]]
        names = [entry.name for entry in entries]
        # The first entry with both the repository and the package, else the first one with either.
        best = max(entries, key=lambda entry: names.count(entry.name), default=_own_entry(record, place))
        servers.append(BenchServer(record, _with_tools(best, record), list(dict.fromkeys(names))))
    return servers


def relevance_sets(
    tasks: Sequence[Mapping[str, Any]], run: Sequence[Mapping[str, Any]], servers: Sequence[BenchServer]
) -> Mapping[str, Sequence[Judged]]:
    """Return the queries of each kind with the grades of entries of the whole catalogue, then with those of the own."""
    having: dict[str, list[BenchServer]] = defaultdict(list)
    for server in servers:
        for tool in _listed_tools(server.record):
            having[tool["name"]].append(server)
    kinds: dict[str, dict[str, list[BenchServer]]] = {kind: defaultdict(list) for kind in ("tasks", "steps", "routes")}
    for task in tasks:
        tools, steps = (_NUMBERED.findall(task["Annotator Metadata"][field]) for field in ("Tools", "Steps"))
        kinds["tasks"][task["Question"]] += [server for tool in tools for server in having[tool]]
        for step, tool in zip(steps, tools, strict=True) if len(steps) == len(tools) else ():
            kinds["steps"][step] += having[tool]
    for task in run:
        tools = _NUMBERED.findall(task["Annotator Metadata"]["Tools"])
        for query in _routes(task["messages"]):
            kinds["routes"][query] += [server for tool in tools for server in having[tool]]
    sets: dict[str, Sequence[Judged]] = {}
    for form in ("whole", "own"):
        for kind, queries in kinds.items():
            graded = [
                Judged(kind, query, {name: BEST for server in relevant for name in server.gold(form)})
                for query, relevant in queries.items()
            ]
            sets[f"{kind}_{form}"] = [query for query in graded if query.grades]
    return sets


def write_sets(folder: Path, sets: Mapping[str, Sequence[Judged]], own: Sequence[Entry]) -> None:
    """Write each set as JSON Lines, and the own catalogue as a document that `bench.relevance --entries` reads."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, queries in sets.items():
        rows = [{"query": row.q, "kind": row.kind, "language": "en", "grades": row.grades} for row in queries]
        lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        (folder / f"{name}.jsonl").write_text(lines, "utf-8")
    documents = [{"server": entry.server, "_meta": entry.meta} for entry in own]
    text = json.dumps({"servers": documents}, ensure_ascii=False, indent=1)
    (folder / "own_catalogue.json").write_text(f"{text}\n", "utf-8")


def _routes(messages: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the queries of the calls of the search of tools."""
    for message in messages:
        for call in message.get("tool_calls") or ():
            if call["function"]["name"] == "route":
                yield json.loads(call["function"]["arguments"])["query"]


def _place(url: str, folder: str = "") -> tuple[str, str]:
    """Return the key of the repository at `url`, and the folder in it: that of the URL if it has one, else `folder`."""
    key = repository_key(url)
    path = urlsplit(url).path.strip("/").split("/") if key else []
    return key, "/".join(path[4:]) if path[2:3] == ["tree"] else folder


def _package(record: Mapping[str, Any]) -> tuple[str, str]:
    """Return the type of the package registry and the identifier of the package that runs a server, or empty texts."""
    command = next(iter(record["config"]["mcpServers"].values()))
    registry = {"npx": "npm", "uvx": "pypi"}.get(command["command"])
    words = command.get("args", [])
    named = [word for option, word in zip(["", *words], words, strict=False) if word[:1] != "-" and option != "--with"]
    return (registry, re.sub(r"(?<=.)(@|==).*", "", named[0])) if registry and named else ("", "")


def _listed_tools(record: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    return [tool for listing in record["tools"].values() for tool in listing["tools"]]


def _own_entry(record: Mapping[str, Any], place: tuple[str, str]) -> Entry:
    """Return an entry with the texts of the benchmark."""
    key, folder = place
    text = record["description"]
    server = {
        "name": "-".join(filter(None, [key.replace("github.com/", "io.github.", 1), folder.rpartition("/")[2]])),
        "title": record["name"],
        "description": shorten(text, 100),
        "version": "0.0.0",
        "repository": {"url": f"https://{key}", "source": "github", "subfolder": folder},
        "_meta": {PUBLISHER: {"longDescription": text}},
    }
    return Entry(server)


def _with_tools(entry: Entry, record: Mapping[str, Any]) -> Entry:
    """Return `entry` with the tools of the benchmark in place of its own."""
    tools = [{"name": tool["name"], "description": tool["description"] or ""} for tool in _listed_tools(record)]
    meta = {**as_mapping(entry.server.get("_meta")), PUBLISHER: {**entry.publisher, "tools": tools}}
    return evolve(entry, server={**entry.server, "_meta": meta})


if __name__ == "__main__":
    main()
