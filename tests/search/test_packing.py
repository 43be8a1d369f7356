"""Packed documents: the round trip."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from directory_server.domain.entries import Entry
from directory_server.search import TextAnalysis
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
