"""Files of entries and of judged queries."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from attrs import frozen

from directory_server import sample
from directory_server.domain.entries import Entry
from directory_server.serialization import decode_entry, with_official_flag

DATA = Path(__file__).parents[3] / "shared" / "data"
"""The folder of the real catalogue and its judged queries. It is not part of the project."""

REAL = DATA / "entries.jsonl.gz"
QUERIES = (DATA / "queries.jsonl", DATA / "needs.jsonl")


@frozen
class Judged:
    """A query and the grades of the names that answer it: 3 best, 1 least."""

    kind: str
    q: str
    grades: Mapping[str, int]


def read_entries(path: Path) -> Sequence[Entry]:
    """Return the entries of a file as `import --official` reads them.

    The file is gzipped JSON Lines, or one JSON document like the sample catalogue. Exits with a message if the file
    does not exist.
    """
    if path.suffix != ".gz":
        return [
            with_official_flag(decode_entry(server)) for server in json.loads(_existing(path).read_bytes())["servers"]
        ]
    with gzip.open(_existing(path)) as lines:
        return [with_official_flag(decode_entry(json.loads(line))) for line in lines]


def read_sample() -> Sequence[Entry]:
    """Return the entries of the sample catalogue."""
    return read_entries(sample.path())


def read_judged(path: Path) -> Sequence[Judged]:
    """Return the judged queries of a file, one JSON document per line. Exits with a message if it does not exist."""
    rows = map(json.loads, _existing(path).read_text("utf-8").splitlines())
    return [Judged(row["kind"], row["q"], {name["name"]: name["grade"] for name in row["relevant"]}) for row in rows]


def _existing(path: Path) -> Path:
    if not path.is_file():
        raise SystemExit(
            f"The file {path} does not exist. The data are not part of the project: put entries.jsonl.gz, "
            f"queries.jsonl and needs.jsonl in {DATA.resolve()}, or name other files with --entries FILE and "
            "--queries FILE."
        )
    return path
