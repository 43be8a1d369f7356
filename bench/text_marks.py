"""Marks of texts that command a model: recall and wrong marks on corpora that are given, and the cost.

    python -m bench.text_marks CORPUS.json...                     recall and false positives, on both halves of each
    python -m bench.text_marks --tools FOLDER                      marks on real tools: a JSON file for each server

A corpus has `entries` with an `id`, a `label` (malicious or benign), and a `tool` or a `description`. The half of an
entry is the lowest bit of the first byte of the SHA-256 digest of its id. A file of a server has `tools` as in
`tools/list`, and a `description`. The corpora of the figures are not part of the repository, see docs/benchmarks.md.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import chain
from pathlib import Path
from time import process_time
from typing import Any

import click

from directory_server.domain.marks import Mark, marks_of, texts_in, tool_texts


def tool_marks(tools: Sequence[Mapping[str, Any]]) -> Iterator[tuple[Mapping[str, Any], Sequence[Mark]]]:
    """Yield the tools of a server with their marks."""
    names = {str(tool.get("name")) for tool in tools}
    for tool in tools:
        yield tool, list(marks_of(tool_texts(tool), names))


def measure(entries: Iterable[Mapping[str, Any]]) -> str:
    """Return the recall and the share of false positives in one line."""
    counts = {(label, marked): 0 for label in ("malicious", "benign") for marked in (True, False)}
    for each in entries:
        tool = each.get("tool") or {"description": each["description"]}
        [(_, marks)] = tool_marks([tool])
        counts[each["label"], bool(marks)] += 1
    parts = []
    for label, name in (("malicious", "recall"), ("benign", "false positives")):
        marked, total = counts[label, True], counts[label, True] + counts[label, False]
        parts.append(f"{name} {marked}/{total} = {marked / max(total, 1):.3f}")
    return ", ".join(parts)


def half(each: Mapping[str, Any]) -> int:
    """Return the half of an entry, 0 or 1."""
    return sha256(str(each["id"]).encode()).digest()[0] & 1


@click.command(help=__doc__)
@click.argument("corpora", nargs=-1, type=click.Path(exists=True, path_type=Path))
@click.option("--tools", type=click.Path(exists=True, file_okay=False, path_type=Path), help="Folder of servers.")
def main(corpora: Sequence[Path], tools: Path | None) -> None:
    """Print the figures."""
    for corpus in corpora:
        entries = json.loads(corpus.read_text("utf-8"))["entries"]
        for name, part in (("all", entries), *((f"half {h}", [e for e in entries if half(e) == h]) for h in (0, 1))):
            print(f"{corpus.name}, {name}: {measure(part)}")
    if tools is not None:
        started, count, marked, characters = process_time(), 0, 0, 0
        for file in sorted(tools.glob("*.json")):
            server = json.loads(file.read_text("utf-8"))
            about = {"description": server.get("description")}
            listed = chain(tool_marks(server.get("tools") or ()), [(about, list(marks_of(texts_in(about))))])
            for tool, marks in listed:
                count += 1
                characters += sum(len(text) for _, text in texts_in(dict(tool)))
                marked += bool(marks)
                for mark in marks:
                    print(f"  {file.stem} {mark.place}: {mark.rule}: {mark.excerpt}")
        print(f"{marked} of {count:,} marked; {characters:,} characters, {process_time() - started:.1f} s of CPU")


if __name__ == "__main__":
    main()
