"""Packed documents: the round trip, and the version of the analysis."""

from __future__ import annotations

import sys
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from directory_server import serialization
from directory_server.domain.entries import Entry
from directory_server.search import TextAnalysis
from directory_server.search.index import packing
from directory_server.search.index.document import WEIGHT, build_document
from directory_server.search.index.packing import pack, unpack

some_text = st.text(st.characters(exclude_categories=["Cs"]), max_size=80)


def entry(name: str = "io.github.acme/mail-server", description: str = "", **publisher: object) -> Entry:
    meta = {"io.modelcontextprotocol.registry/publisher-provided": publisher}
    return Entry({"name": name, "version": "1", "description": description, "_meta": meta})


def weights(entry: Entry) -> dict[str, float]:
    packed = unpack(TextAnalysis()(entry))
    return dict(zip(packed.words.split(), np.frombuffer(packed.weights, WEIGHT).tolist(), strict=True))


@given(some_text, some_text, some_text, st.lists(some_text, max_size=3))
def test_unpack_returns_the_packed_document(name: str, brief: str, text: str, tags: list[str]) -> None:
    document = build_document(entry(name, brief, longDescription=text, tags=tags))
    assert repr(unpack(pack(document))) == repr(document)
    assert len(document.words.split()) * WEIGHT.itemsize == len(document.weights)


def test_weight_depends_on_field_and_frequency() -> None:
    weight = weights(entry(description="mail mail letters", longDescription="parcels"))
    assert weight["mail"] > weight["server"] > weight["letters"] > weight["parcels"] > 0


def test_words_of_names_come_first() -> None:
    packed = unpack(TextAnalysis()(entry(description="reads letters")))
    assert set(packed.words.split()[: packed.named]) == {"mail", "server", "mailserver"}


def test_analysis_is_deterministic() -> None:
    one, other = TextAnalysis(), TextAnalysis()
    assert one.version == other.version
    assert one(entry(tags=["b", "a"])) == other(entry(tags=["b", "a"]))


@pytest.mark.parametrize("changed", packing._SOURCES)
def test_version_changes_with_each_source(changed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    version = TextAnalysis().version
    for name in packing._SOURCES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(files("directory_server").joinpath(name).read_bytes())
    monkeypatch.setattr(packing, "files", lambda package: tmp_path)
    assert TextAnalysis().version == version
    with (tmp_path / changed).open("a") as module:
        module.write("# Something else.\n")
    assert TextAnalysis().version != version


def test_version_covers_all_imported_modules_of_search() -> None:
    searched = [name for name in packing._SOURCES if name.startswith("search/")]
    imported = {
        module.__name__.removeprefix("directory_server.").replace(".", "/") + ".py"
        for module in (
            sys.modules[f"directory_server.{name.removesuffix('.py').replace('/', '.')}"] for name in searched
        )
        for module in vars(module).values()
        if getattr(module, "__name__", "").startswith("directory_server.search.")
    }
    assert imported <= set(searched)


def test_packed_documents_of_real_entries_are_small(shared_data: Path) -> None:
    pages = sorted((shared_data / "registry_pages").glob("*.json"))
    entries = [
        serialization.decode_entry(each)
        for page in pages
        for each in serialization.decode(page.read_bytes())["servers"]
    ]
    analysis = TextAnalysis()
    packed = sum(len(analysis(each)) for each in entries)
    assert packed < 2 * sum(len(serialization.encode_entry(each)) for each in entries)
