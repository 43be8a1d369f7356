"""Records of OSV, versions that they cover, and documents of sources."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from directory_server.domain.versions import semantic
from directory_server.features.removals import osv, sources
from directory_server.features.removals.osv import Advisory, InvalidRecord, advisories_of, package_key
from directory_server.features.removals.sources import SourceFailed, documents_of

MAL = ("MAL-*",)


def record(*affected: Any, **members: Any) -> bytes:
    return json.dumps({"id": "MAL-2025-47604", "affected": affected, **members}).encode()


def affected(ecosystem: str = "npm", name: str = "postmark-mcp", **members: Any) -> dict[str, Any]:
    return {"package": {"ecosystem": ecosystem, "name": name}, **members}


def ranges(*events: dict[str, str], kind: str = "SEMVER") -> dict[str, Any]:
    return {"ranges": [{"type": kind, "events": list(events)}]}


def only(body: bytes) -> Advisory:
    (advisory,) = advisories_of(body, MAL)
    return advisory


@pytest.mark.parametrize(
    ("members", "malicious", "clean"),
    [
        (ranges({"introduced": "0"}), ["1.0.0", "99.0.0", "", "latest", "no version"], []),
        ({}, ["1.0.0", ""], []),
        ({"versions": ["1.0.16"]}, ["1.0.16"], ["1.0.15", "", "1.0.17"]),
        (ranges({"introduced": "1.0.16"}), ["1.0.16", "2.0.0", "", "odd"], ["1.0.15", "1.0.16-rc.1"]),
        (ranges({"introduced": "0"}, {"fixed": "1.2.0"}), ["1.1.9", "1.2.0-rc.1", "odd"], ["1.2.0", ""]),
        (ranges({"introduced": "1.0.0"}, {"last_affected": "1.2.0"}), ["1.0.0", "1.2.0"], ["0.9.9", "1.2.1", ""]),
        (
            ranges({"introduced": "2.0.0"}, {"fixed": "2.1.0"}, {"introduced": "0"}, {"fixed": "1.0.0"}),
            ["0.5.0", "2.0.5"],
            ["1.5.0", "2.1.0"],
        ),
        (ranges({"introduced": "0"}, kind="GIT"), [], ["1.0.0", ""]),
        (ranges({"introduced": "0"}, {"limit": "1.0.0"}), ["0.9.0"], ["1.0.0"]),
        ({"versions": ["7.0.0"], **ranges({"introduced": "1.0.0"}, {"fixed": "1.1.0"})}, ["7.0.0", "1.0.5"], ["1.1.0"]),
    ],
)
def test_versions_of_npm(members: dict[str, Any], malicious: list[str], clean: list[str]) -> None:
    advisory = only(record(affected(**members)))
    assert [version for version in malicious if not advisory.covers(version)] == []
    assert [version for version in clean if advisory.covers(version)] == []


@pytest.mark.parametrize(
    ("ecosystem", "listed", "same", "others"),
    [
        (
            "npm",
            "1.0.1",
            ["1.0.1+x", "v1.0.1", "=1.0.1", " v 1.0.1 ", "01.0.01", "1.0.1+x.y-z", "1.0", "1", "^1.0.0", "beta", "1.x"],
            ["1.0.0", "1.0.2", "1.0.1-rc.1", "1.0.1rc1", "10.1.0"],
        ),
        ("npm", "1.0.1-rc.1", ["1.0.1-rc.1+b", "1.0.1rc.1", "v1.0.1-rc.1", "1.0.1-rc.01"], ["1.0.1", "1.0.1-rc.2"]),
        ("npm", "1.0.1+build", ["1.0.1", "1.0.1+other"], ["1.0.2"]),
        (
            "PyPI",
            "1.0.0",
            [
                "1",
                "1.0",
                "v1.0.0",
                "1.0.0.0",
                "01.0",
                "0!1.0",
                "1.0+local",
                "V1.0+a.b",
                " 1.0 ",
                "==1.0",
                "1.*",
                "1.0.0-x",
            ],
            ["1.0.1", "1.0a1", "1.0.post1", "1!1.0", "1.0-1"],
        ),
        ("PyPI", "1.0rc1", ["1.0.0-RC.1", "1.0c1", "1.0_preview_1"], ["1.0", "1.0rc2"]),
        (
            "NuGet",
            "1.0.0",
            ["1.0", "1", "1.0.0.0", "v1.0.0", "1.0.0+x", "01.00.0", "[1.0.0]", "1.*", "1.0.0.0.0"],
            ["1.0.0.1", "1.0.0-beta", "1.0.1"],
        ),
        (
            "NuGet",
            "1.2.3.4-Beta.2",
            ["1.2.3.4-beta.2", "1.2.3.4-BETA.02+x"],
            ["1.2.3.4", "1.2.3-beta.2", "1.2.3.4-beta.3"],
        ),
        ("crates.io", "1.0.0", ["1.0.0+x", "1.0", "=1.0"], ["1.0.1"]),
        ("crates.io", "1.0.0", ["1" * 300 + ".0.0"], ["1" * 200 + ".0.0"]),
    ],
)
def test_versions_that_installers_take_for_the_same_are_equal(
    ecosystem: str, listed: str, same: list[str], others: list[str]
) -> None:
    advisory = only(record(affected(ecosystem, "evil", versions=[listed])))
    assert [version for version in [listed, *same] if not advisory.covers(version)] == []
    assert [version for version in others if advisory.covers(version)] == []


def test_versions_of_pypi_are_compared_by_pep_440() -> None:
    advisory = only(record(affected("PyPI", "a", **ranges({"introduced": "1.9"}, {"fixed": "1.10"}, kind="ECOSYSTEM"))))
    assert advisory.covers("1.9.1")
    assert advisory.covers("1.10.dev1")
    assert not advisory.covers("1.10")
    assert not advisory.covers("1!1.9")


def test_the_versions_of_a_record_are_read_once_for_all_packages_of_an_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def order(version: str) -> Any:
        read.append(version)
        return semantic(version)

    monkeypatch.setitem(osv._ORDERS, "npm", order)
    advisory = only(record(affected(versions=[f"1.{number}.7" for number in range(1_000)])))
    assert [advisory.covers(f"1.{number}.7") for number in range(950, 1_050)] == [True] * 50 + [False] * 50
    assert len(read) == 1_000 + 100


def test_names_are_compared_as_registries_do() -> None:
    assert only(record(affected("PyPI", "My.Tool_X"))).package == package_key("pypi", "my-tool-x")
    assert package_key("npm", "@Scope/Name") == "npm @scope/name"
    assert package_key("oci", "docker.io/x") == package_key("npm", "") == package_key("npm", "x" * 300) == ""


@pytest.mark.parametrize(
    "body",
    [
        record(affected(), withdrawn="2026-01-01T00:00:00Z"),
        record(affected(), id="GHSA-1234"),
        record(affected("Go", "x"), affected("npm", "a\u202eb"), affected("npm", 7), {"package": []}, 3, {}),  # type: ignore[arg-type]
        record(),
    ],
)
def test_records_without_a_malicious_package(body: bytes) -> None:
    assert list(advisories_of(body, MAL)) == []


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"{}",
        b'{"id": 7}',
        b'{"id": "../x"}',
        b"\xff",
        b"[" * 100_000,
        record(affected(versions={})),
        record(affected(ranges=7)),
        record(affected(ranges=[{"type": "SEMVER", "events": {}}])),
        json.dumps({"id": "MAL-1", "affected": "x"}).encode(),
        json.dumps({"id": "MAL-1", "affected": [{}] * 1_001}).encode(),
        record(affected(versions=["1"] * 20_001)),
        b'{"id":"MAL-1","x":[' + b"0," * 60_000 + b"0]}",
    ],
)
def test_invalid_records(body: bytes) -> None:
    with pytest.raises(InvalidRecord):
        advisories_of(body, MAL)


def test_odd_events_are_ignored() -> None:
    events: Any = [{"introduced": 1}, {"introduced": "x" * 300}, {"other": "1"}, 7, {"introduced": "not semantic"}]
    assert not only(record(affected(ranges=[{"type": "SEMVER", "events": events}]))).covers("1.0.0")


def test_a_file_a_folder_and_an_archive_have_the_same_documents(tmp_path: Path) -> None:
    folder = tmp_path / "osv" / "npm" / "postmark-mcp"
    folder.mkdir(parents=True)
    (folder / "MAL-1.json").write_bytes(b"1")
    (folder / "README.md").write_bytes(b"text")
    (tmp_path / "osv" / "circle").symlink_to(tmp_path / "osv")
    (tmp_path / "osv" / "link.json").symlink_to(folder / "MAL-1.json")
    with ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.writestr("a/MAL-1.json", b"1")
        archive.writestr("a/README.md", b"text")
    assert list(documents_of(tmp_path / "osv")) == [b"1"]
    assert list(documents_of(tmp_path / "all.zip")) == [b"1"]
    assert list(documents_of(folder / "MAL-1.json")) == [b"1"]


def test_a_source_without_documents_fails(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "missing"):
        with pytest.raises(SourceFailed):
            list(documents_of(path))


def test_large_documents_are_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "MAX_DOCUMENT", 10)
    (tmp_path / "a.json").write_bytes(b"x" * 11)
    (tmp_path / "b.json").write_bytes(b"x" * 10)
    with ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.writestr("a.json", b"x" * 11)
    assert list(documents_of(tmp_path)) == [None, b"x" * 10]
    assert list(documents_of(tmp_path / "all.zip")) == [None]


@pytest.mark.parametrize(("name", "most"), [("MAX_DOCUMENTS", 1), ("MAX_BYTES", 3), ("MAX_ARCHIVE", 10)])
def test_a_source_above_a_limit_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, most: int) -> None:
    with ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.writestr("a.json", b"xx")
        archive.writestr("b.json", b"xx")
    monkeypatch.setattr(sources, name, most)
    with pytest.raises(SourceFailed):
        list(documents_of(tmp_path / "all.zip"))
