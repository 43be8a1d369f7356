"""Hostile sources of advisories, and hostile entries for look-alikes: bounded work, and documented errors only."""

from __future__ import annotations

import json
import struct
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from directory_server.domain.entries import OFFICIAL, Entry
from directory_server.features.lookalikes.finder import Finder
from directory_server.features.lookalikes.names import Name
from directory_server.features.lookalikes.rules import is_like, subject_of
from directory_server.features.removals import sources
from directory_server.features.removals.osv import InvalidRecord, advisories_of
from directory_server.features.removals.rules import findings_of, packages_of, removed
from directory_server.features.removals.sources import MAX_DOCUMENT, SourceFailed, documents_of

many = settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=12,
)

VERSIONS = st.sampled_from(["0", "1.0.0", "1!2.0", "99999999999999999999.0.0", "v1", "", "\0", "latest"]) | st.text(
    max_size=9
)

EVENTS = st.lists(
    st.dictionaries(
        st.sampled_from(["introduced", "fixed", "last_affected", "limit", "x"]), VERSIONS | JSON, max_size=2
    ),
    max_size=5,
)

RANGES = st.lists(
    st.fixed_dictionaries({"type": st.sampled_from(["SEMVER", "ECOSYSTEM", "GIT"]), "events": EVENTS}), max_size=3
)

AFFECTED = st.fixed_dictionaries(
    {
        "package": st.fixed_dictionaries(
            {"ecosystem": st.sampled_from(["npm", "PyPI", "NuGet", "Go"]), "name": st.just("x")}
        )
    },
    optional={"versions": st.lists(VERSIONS, max_size=4) | JSON, "ranges": RANGES | JSON},
)

RECORDS = (
    st.builds(lambda affected: {"id": "MAL-1", "affected": affected}, st.lists(AFFECTED, max_size=3) | JSON) | JSON
)


@many
@given(RECORDS, VERSIONS)
def test_any_record_is_read_or_invalid(record: Any, version: str) -> None:
    try:
        advisories = advisories_of(json.dumps(record).encode(), ("MAL-*",))
    except InvalidRecord:
        return
    for advisory in advisories:
        assert isinstance(advisory.covers(version), bool)


@many
@given(st.binary(max_size=300))
def test_any_bytes_are_read_or_invalid(body: bytes) -> None:
    try:
        advisories_of(body, ("*",))
    except InvalidRecord:
        return


def archive(**members: bytes) -> bytearray:
    file = BytesIO()
    with ZipFile(file, "w", ZIP_DEFLATED) as written:
        for name, body in members.items():
            written.writestr(f"{name}.json", body)
    return bytearray(file.getvalue())


def test_a_bomb_is_left_out(tmp_path: Path) -> None:
    body = archive(bomb=b" " * 50_000_000, honest=b"1")
    # The list of files states a small size.
    place = body.rfind(b"PK\1\2", 0, body.rfind(b"PK\1\2"))
    body[place + 24 : place + 28] = struct.pack("<L", 10)
    (tmp_path / "all.zip").write_bytes(body)
    found = list(documents_of(tmp_path / "all.zip"))
    assert found[1] == b"1"
    assert found[0] is None or len(found[0]) <= MAX_DOCUMENT


def test_a_list_of_files_above_the_limit_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "all.zip"
    with ZipFile(path, "w") as written:
        for number in range(7_000):
            written.writestr(f"{number}.json", b"")
    monkeypatch.setattr(sources, "MAX_DIRECTORY", 300_000)
    with pytest.raises(SourceFailed, match="list of files"):
        list(documents_of(path))


def test_a_signature_in_the_last_record_hides_no_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    body = archive(a=b"1" * 500)
    # The size of the list of files.
    body[-10:-6] = b"PK\5\6"
    (tmp_path / "all.zip").write_bytes(body)
    monkeypatch.setattr(sources, "MAX_DIRECTORY", 100)
    with pytest.raises(SourceFailed, match="list of files"):
        list(documents_of(tmp_path / "all.zip"))


def test_a_second_record_hides_no_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    body = archive(a=b"1" * 500)
    size, start = struct.unpack_from("<LL", body, len(body) - 10)

    def record(stated: int, place: int) -> bytes:
        return struct.pack("<4sQ2H2L4Q", b"PK\6\6", 44, 45, 45, 0, 0, 1, 1, stated, place)

    # The first record, which the locator names, states a small size. The second one is before the locator.
    hidden = body[:start] + record(10, start) + body[start : start + size] + record(size, start + 56)
    locator = struct.pack("<4sLQL", b"PK\6\7", 0, start, 1)
    end = struct.pack("<4s4H2LH", b"PK\5\6", *[0xFFFF] * 4, *[0xFFFFFFFF] * 2, 0)
    (tmp_path / "all.zip").write_bytes(hidden + locator + end)
    monkeypatch.setattr(sources, "MAX_DIRECTORY", 20)
    with pytest.raises(SourceFailed, match="list of files"):
        list(documents_of(tmp_path / "all.zip"))


@many
@given(st.integers(min_value=0), st.binary(max_size=8))
def test_a_damaged_archive_is_an_error_or_read(tmp_path: Path, place: int, damage: bytes) -> None:
    body = archive(a=b"1", b=b"2" * 500)
    at = place % len(body)
    body[at : at + len(damage)] = damage
    (tmp_path / "all.zip").write_bytes(body)
    try:
        assert all(each is None or len(each) <= MAX_DOCUMENT for each in documents_of(tmp_path / "all.zip"))
    except SourceFailed:
        return


@many
@given(
    JSON,
    JSON,
    st.dictionaries(
        st.sampled_from(["registryType", "identifier", "version", "url", "registryBaseUrl"]), JSON | st.text()
    ),
    st.text(min_size=1, max_size=200),
)
def test_any_entry_is_compared(official: Any, stars: Any, item: dict[str, Any], name: str) -> None:
    publisher = {"io.modelcontextprotocol.registry/publisher-provided": {"stars": stars}}
    server = {
        "name": name,
        "version": "1",
        "description": "",
        "packages": [item, 7],
        "remotes": [item],
        "_meta": publisher,
    }
    entry = Entry(server, {OFFICIAL: official}, True)
    finder = Finder()
    finder.update({name: subject_of(entry), "io.acme/x": subject_of(Entry({"name": "io.acme/x", "version": "1"}))})
    assert isinstance(finder.originals(name), dict)
    assert is_like(Name(name), Name("io.acme/x")) in (True, False)
    assert list(findings_of(entry, {})) == []
    assert len(packages_of(entry)) <= 1
    assert removed(entry, (), 1.0).packages == ()


def test_long_names_and_many_packages_cost_little() -> None:
    packages = [{"registryType": "npm", "identifier": f"p{number}"} for number in range(5_000)]
    entry = Entry({"name": "a" * 200, "version": "1", "description": "", "packages": packages})
    assert len(subject_of(entry).packages) <= 10
    assert len(packages_of(entry)) <= 100
