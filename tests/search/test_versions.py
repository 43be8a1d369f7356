"""Versions of stored data: a change of the analysis or of the index needs another number."""

from __future__ import annotations

import json
import re
import unicodedata
from functools import cache
from hashlib import blake2b
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from attrs import evolve

from directory_server.domain import facts
from directory_server.domain.changes import Change
from directory_server.domain.checks import IndexedVerification, VerifiedStatus
from directory_server.domain.entries import OFFICIAL, Entry
from directory_server.domain.notes import LOOKALIKE
from directory_server.domain.tools import OfferedTool
from directory_server.runtime.run_sync import inline, run_sync
from directory_server.search import ImpactIndex, TextAnalysis, file_version
from directory_server.search import text as analysis
from directory_server.search.index import checked, claims, document, facets, fields, packing, segment
from directory_server.search.index.packing import pack, unpack
from directory_server.search.index.saved import to_columns
from directory_server.search.tables import word_vectors
from directory_server.serialization import encode_hit, encode_indexed
from tests.contract.index import notes_of

pytestmark = pytest.mark.slow

SAMPLE = Path(__file__).with_name("analysis_sample.json")
"""Entries that together run nearly all branches of the analysis, and texts that each state a fact."""

VERIFICATIONS = (
    *(IndexedVerification(status) for status in VerifiedStatus),
    IndexedVerification(
        VerifiedStatus.WORKS, auth="oauth", tools=(OfferedTool("list_mailboxes", description="Lists all mailboxes."),)
    ),
)


@cache
def sample() -> list[Entry]:
    found = json.loads(SAMPLE.read_text("utf-8"))
    entries = [
        Entry(each["server"], each.get("_meta", {}), OFFICIAL in each.get("_meta", {})) for each in found["entries"]
    ]
    texts = [
        {"name": f"org.example/{number}", "version": "1", "description": text}
        for number, text in enumerate(found["texts"])
    ]
    return [*entries, *map(Entry, texts)]


def rounded(prior: float) -> float:
    """Return a prior whose last digits do not depend on the machine's logarithm."""
    return round(prior, 6)


def analysed_sample() -> str:
    """Return a digest of the packed documents of the sample."""
    digest = blake2b(digest_size=8)
    for entry in sample():
        found = unpack(TextAnalysis()(entry))
        digest.update(pack(evolve(found, row=evolve(found.row, prior=rounded(found.row.prior)))))
    return digest.hexdigest()


def indexed_sample() -> str:
    """Return a digest of the columns of an index with the sample in two segments, checked and pinned entries in it."""
    changes = []
    for number, entry in enumerate(sample()):
        checked = VERIFICATIONS[number] if number < len(VERIFICATIONS) else None
        encoded = None if checked is None else encode_indexed(checked)
        analysed, is_pinned = TextAnalysis()(entry), number in (3, 5)
        notes = notes_of(encoded, flags=(LOOKALIKE,) if number == 4 else ())
        changes.append(Change(number, "added", entry.mcp_id, b"{}", analysed, is_pinned, notes))
    index = ImpactIndex(inline, sizes=(16, 512))
    run_sync(index.apply(changes[:-8]))
    run_sync(index.apply(changes[-8:]))
    run_sync(index.apply([evolve(changes[0], kind="removed", body=None, analysed=None, notes=())]))
    digest = blake2b(digest_size=8)
    columns = to_columns(index.snapshot)[1]
    for name in sorted(columns):
        column = columns[name]
        digest.update(f"{name} {column.dtype}\n".encode())
        digest.update(_exact(name, column))
    return digest.hexdigest()


def _exact(name: str, column: Any) -> bytes:
    """Return the bytes of a column, without the last digits of logarithms."""
    found: bytes = np.round(column, 5).tobytes() if column.dtype == np.float32 else column.tobytes()
    return found


def test_a_changed_analysis_has_another_number() -> None:
    found = analysed_sample()
    assert found == packing.ANALYSED_SAMPLE, (
        "The analysis of entries has changed. In search/index/packing.py, raise ANALYSIS, so that stored entries are "
        f'analysed again, and set ANALYSED_SAMPLE to "{found}".'
    )


def test_a_changed_index_has_another_number() -> None:
    found = indexed_sample()
    assert found == packing.INDEXED_SAMPLE, (
        "The index of the same entries has changed. In search/index/packing.py, raise FILE, unless the analysis alone "
        f'has changed, and set INDEXED_SAMPLE to "{found}".'
    )


CHANGES_OF_THE_ANALYSIS: dict[str, tuple[Any, str, Any]] = {
    "text.py": (analysis, "_BASE_LETTERS", {}),
    "index/claims.py": (claims, "MEANT", 3.0),
    "index/document.py": (document, "PLACEHOLDER_WEIGHT", 0.2),
    "index/facets.py": (facets, "HOUR", 60),
    "tables/word_vectors.py": (word_vectors, "MAX_WORDS", 2),
    "domain/facts.py": (facts, "_SECRET", re.compile("secret")),
}
"""By module, a constant that decides what is stored, and another value."""


@pytest.mark.parametrize(("module", "name", "value"), CHANGES_OF_THE_ANALYSIS.values(), ids=[*CHANGES_OF_THE_ANALYSIS])
def test_the_sample_shows_a_change(module: Any, name: str, value: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, name, value)
    assert analysed_sample() != packing.ANALYSED_SAMPLE


CHANGES_OF_THE_INDEX: dict[str, tuple[Any, str, Any]] = {
    "checked.py": (checked, "PRIORS", dict.fromkeys(VerifiedStatus, 0.01)),
    "fields.py": (fields, "K1", 1.3),
    "segment.py": (segment, "encode_hit", lambda hit, name: encode_hit(hit, name + "s")),
}


@pytest.mark.parametrize(("module", "name", "value"), CHANGES_OF_THE_INDEX.values(), ids=[*CHANGES_OF_THE_INDEX])
def test_the_sample_shows_a_change_of_the_index(
    module: Any, name: str, value: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, name, value)
    assert indexed_sample() != packing.INDEXED_SAMPLE


@pytest.mark.parametrize("name", ["ANALYSIS", "ANALYSED_SAMPLE", "FILE", "INDEXED_SAMPLE"])
def test_versions_depend_on_the_numbers(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = current()
    monkeypatch.setattr(packing, name, "another")
    assert [one != other for one, other in zip(before, current(), strict=True)] == [name.startswith("ANALYS"), True]


@pytest.mark.parametrize("library", ["PyStemmer", "opencc-python-reimplemented", "regex", "numpy", "orjson"])
def test_versions_depend_on_libraries(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = current()
    monkeypatch.setattr(packing, "version", lambda name: "another" if name == library else version(name))
    of_file_only = library in ("numpy", "orjson")
    assert [one != other for one, other in zip(before, current(), strict=True)] == [not of_file_only, True]


def test_versions_depend_on_the_unicode_data(monkeypatch: pytest.MonkeyPatch) -> None:
    before = current()
    monkeypatch.setattr(unicodedata, "unidata_version", "another")
    assert [one != other for one, other in zip(before, current(), strict=True)] == [True, True]


def current() -> tuple[str, str]:
    """Return the version of the analysis, and that of the file, without their caches."""
    for each in (packing.analysis_version, packing.file_version):
        each.cache_clear()
    try:
        return TextAnalysis().version, file_version()
    finally:
        for each in (packing.analysis_version, packing.file_version):
            each.cache_clear()
