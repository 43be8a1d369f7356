"""The sample catalogue: importable entries, facts of the publishers, texts of our own."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from directory_server import sample
from directory_server.client_config import installations
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
            host, slash, _ = package["identifier"].partition("/")
            assert not slash or "." not in host, entry.name


def test_every_entry_can_be_installed(entries: list[Entry]) -> None:
    for entry in entries:
        ways = installations(entry.name, "id", entry.server.get("packages", ()), entry.server.get("remotes", ()))
        assert ways, entry.name
        assert all(way.configurations for way in ways), (entry.name, [way.note for way in ways])


def test_versions_are_exact(entries: list[Entry]) -> None:
    for entry in entries:
        assert not re.fullmatch(r"0\.0\.0|latest", entry.version), entry.name
        for package in entry.server.get("packages", ()):
            tag = package["identifier"].partition(":")[2] if package["registryType"] == "oci" else package["version"]
            assert re.match(r"\d+\.\d+", tag), entry.name


def test_tokens_are_declared_secret(entries: list[Entry]) -> None:
    for entry in entries:
        for place in [*entry.server.get("packages", ()), *entry.server.get("remotes", ())]:
            for value in [*place.get("environmentVariables", ()), *place.get("headers", ())]:
                if re.search(r"TOKEN|KEY|SECRET|PASSWORD|AUTHORIZATION", value["name"].upper()):
                    parts = [value, *value.get("variables", {}).values()]
                    assert any(part.get("isSecret") for part in parts), (entry.name, value["name"])


def test_facts_match_the_real_entries(entries: list[Entry], real: dict[str, Entry]) -> None:
    assert len(real) >= 45, "reference servers of the protocol's project are newer than the real entries"
    for entry in entries:
        if entry.name not in real:
            assert entry.name.startswith("io.github.modelcontextprotocol/"), entry.name
            continue
        true = real[entry.name]
        assert entry.official == true.official, entry.name
        for member in ("$schema", "websiteUrl"):
            assert entry.server.get(member) in (None, true.server.get(member)), entry.name
        assert {tool.name for tool in entry.tools} <= {tool.name for tool in true.tools} or not true.tools, entry.name


def test_no_sentence_is_copied_from_the_real_entries(entries: list[Entry], real: dict[str, Entry]) -> None:
    for entry in entries:
        assert set(entry.meta) <= {"io.modelcontextprotocol.registry/official"}, entry.name
        if entry.name in real:
            assert sentences(own_texts(entry)) & sentences(real[entry.name].server) == set(), entry.name
