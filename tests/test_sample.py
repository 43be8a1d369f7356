"""The sample catalogue: importable entries, facts of the publishers, texts of our own."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from directory_server import sample
from directory_server.domain.entries import Entry
from directory_server.serialization import decode, decode_entry

LETTERS = {"zh": r"[\u4e00-\u9fff]", "ja": r"[\u3040-\u30ff]"}


@pytest.fixture(scope="module")
def page() -> dict[str, Any]:
    value: dict[str, Any] = decode(sample.path().read_bytes())
    return value


@pytest.fixture(scope="module")
def entries(page: dict[str, Any]) -> list[Entry]:
    return [decode_entry(value) for value in page["servers"]]


@pytest.fixture(scope="module")
def real(entries: list[Entry], shared_data: Path) -> dict[str, Entry]:
    wanted = {entry.name for entry in entries}
    with gzip.open(shared_data / "entries.jsonl.gz") as lines:
        known = [decode_entry(decode(line)) for line in lines if any(name.encode() in line for name in wanted)]
    return {entry.name: entry for entry in known if entry.name in wanted}


def values_of(entry: Entry, member: str, key: str) -> set[Any]:
    return {item.get(key) for item in entry.server.get(member, ())}


def own_texts(entry: Entry) -> list[str]:
    tools = [tool.description for tool in entry.tools]
    return [entry.brief, entry.long_description, *entry.descriptions.values(), *tools]


def sentences(value: object) -> set[str]:
    return {part.strip().casefold() for text in texts(value) for part in re.split(r"[.!?。！？\n]", text)} - {""}


def texts(value: object) -> Iterator[str]:
    match value:
        case str():
            yield value
        case Mapping():
            for inner in value.values():
                yield from texts(inner)
        case list() | tuple():
            for inner in value:
                yield from texts(inner)


def test_page_is_complete_and_sorted(page: dict[str, Any], entries: list[Entry]) -> None:
    assert page["metadata"] == {"count": len(entries)}
    assert len(entries) >= 40
    names = [entry.name for entry in entries]
    assert names == sorted(set(names))


def test_every_entry_has_the_texts_of_a_list(entries: list[Entry]) -> None:
    for entry in entries:
        assert entry.title, entry.name
        assert 0 < len(entry.brief) <= 100, entry.name
        assert entry.long_description, entry.name
        assert entry.categories, entry.name
        assert all(tool.description for tool in entry.tools), entry.name
        assert re.match(r"https://|$", entry.hit().website_url), entry.name


@pytest.mark.parametrize(("language", "least"), [("zh", 8), ("ja", 4)])
def test_some_entries_have_other_languages(entries: list[Entry], language: str, least: int) -> None:
    descriptions = [entry.descriptions[language] for entry in entries if language in entry.descriptions]
    assert len(descriptions) >= least
    assert all(re.search(LETTERS[language], text) for text in descriptions)


def test_packages_name_no_registry(entries: list[Entry]) -> None:
    for entry in entries:
        for package in entry.server.get("packages", ()):
            assert "registryBaseUrl" not in package, entry.name
            assert "." not in package["identifier"].partition("/")[0], entry.name


def test_facts_match_the_real_entries(entries: list[Entry], real: dict[str, Entry]) -> None:
    for entry in entries:
        assert entry.name in real
        true = real[entry.name]
        assert entry.version == true.version, entry.name
        assert entry.official == true.official, entry.name
        for key, value in entry.server.get("repository", {}).items():
            assert value == true.server["repository"][key], entry.name
        for member in ("$schema", "websiteUrl"):
            assert entry.server.get(member) in (None, true.server.get(member)), entry.name
        for member, key in [("packages", "identifier"), ("packages", "version"), ("remotes", "url")]:
            assert values_of(entry, member, key) <= values_of(true, member, key), (entry.name, key)
        assert {tool.name for tool in entry.tools} <= {tool.name for tool in true.tools}, entry.name
        assert set(entry.tags) <= set(true.tags), entry.name


def test_no_sentence_is_copied_from_the_real_entries(entries: list[Entry], real: dict[str, Entry]) -> None:
    for entry in entries:
        assert set(entry.meta) <= {"io.modelcontextprotocol.registry/official"}, entry.name
        assert sentences(own_texts(entry)) & sentences(real[entry.name].server) == set(), entry.name
