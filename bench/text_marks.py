"""Marks of texts that command a model: recall and wrong marks on corpora that are given.

    python -m bench.text_marks CORPUS.json...

A corpus has `entries` with an `id`, a `label` (malicious or benign), and a `tool` or a `description`. The half of an
entry is the lowest bit of the first byte of the SHA-256 digest of its id. The corpora of the figures are not part of
the repository, see docs/benchmarks.md.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import click

from directory_server.domain.marks import marks_of, tool_texts


def measure(entries: Iterable[Mapping[str, Any]]) -> str:
    """Return the recall and the share of false positives in one line."""
    counts = {(label, marked): 0 for label in ("malicious", "benign") for marked in (True, False)}
    for each in entries:
        tool = each.get("tool") or {"description": each["description"]}
        marks = marks_of(tool_texts(tool), {str(tool.get("name"))})
        counts[each["label"], any(marks)] += 1
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
def main(corpora: Sequence[Path]) -> None:
    """Print the figures."""
    for corpus in corpora:
        entries = json.loads(corpus.read_text("utf-8"))["entries"]
        for name, part in (("all", entries), *((f"half {h}", [e for e in entries if half(e) == h]) for h in (0, 1))):
            print(f"{corpus.name}, {name}: {measure(part)}")


if __name__ == "__main__":
    main()
