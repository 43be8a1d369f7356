"""The catalogue and the judged queries, as files hold them."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from pathlib import Path

from attrs import frozen

from directory_server.domain.entries import Entry
from directory_server.serialization import decode_entry, with_official_flag

from ._metrics import Grades

DATA = Path(__file__).parent.parent.parent / "shared" / "data"
"""Where the real catalogue and its judged queries are looked for."""


@frozen
class Judged:
    """A query and how well each of the names that answer it does: 3 best, 1 least."""

    kind: str
    q: str
    grades: Grades


def read_entries(path: Path) -> Sequence[Entry]:
    """Return the entries of a gzipped file, one a line, as `import --official` takes them.

    Exits with a message where the file is absent.
    """
    with gzip.open(_present(path)) as lines:
        return [with_official_flag(decode_entry(json.loads(line))) for line in lines]


def read_judged(path: Path) -> Sequence[Judged]:
    """Return the judged queries of a file, one a line. Exits with a message where the file is absent."""
    rows = map(json.loads, _present(path).read_text("utf-8").splitlines())
    return [Judged(row["kind"], row["q"], {name["name"]: name["grade"] for name in row["relevant"]}) for row in rows]


def _present(path: Path) -> Path:
    if not path.is_file():
        raise SystemExit(
            f"There is no file {path}. The data are not part of the project: put entries.jsonl.gz, queries.jsonl and "
            f"needs.jsonl into {DATA.resolve()}, or name others with --entries FILE and --queries FILE."
        )
    return path
