"""Facts about who is behind an entry."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve

from directory_server.domain.check_views import PackageView
from directory_server.domain.details import detail_of, package_identity, repository_key
from directory_server.domain.entries import OFFICIAL, PUBLISHER, Entry

PACKAGE = PackageView(
    registry_type="npm",
    identifier="weather",
    version="1.0.0",
    status="exists",
    checked_at="2026-11-26T00:00:00Z",
    latest_version="1.3.0",
    published_at=None,
    deprecation="",
    names_server=None,
    released_at=None,
    provenance="",
    detail="",
)

REPOSITORY = "https://github.com/Acme/weather.git"


def marks(package: PackageView, repository: str = REPOSITORY) -> list[tuple[str, str, str | None, str]]:
    return [(fact.mark, fact.source, fact.date, fact.detail) for fact in package_identity([package], repository)]


def entry(name: str, *, is_official: bool = True, **publisher: Any) -> Entry:
    server = {"name": name, "version": "1", "description": "", "_meta": {PUBLISHER: publisher}}
    return Entry(server, {OFFICIAL: {"publishedAt": "2026-01-02T03:04:05Z"}}, is_official)


def test_a_proven_namespace_and_a_vendor() -> None:
    found = detail_of(entry("com.acme/acme-mcp"))
    assert [(fact.mark, fact.date, fact.detail) for fact in found.identity] == [
        ("namespace_proven", "2026-01-02T03:04:05Z", "com.acme"),
        ("vendor", "2026-01-02T03:04:05Z", "com.acme"),
    ]
    assert found.publisher == "verified"


@pytest.mark.parametrize("unknown", [entry("io.github.a/b", is_official=False), entry("ai.smithery/a-b")])
def test_what_is_not_proven_is_unknown(unknown: Entry) -> None:
    found = detail_of(unknown)
    assert (list(found.identity), found.publisher) == ([], "unknown")


def test_an_archived_repository() -> None:
    found = detail_of(entry("io.github.a/b", is_official=False, categories=["Archived"]))
    assert [fact.mark for fact in found.identity] == ["archived"]


def test_nothing_is_known_of_an_unchecked_package() -> None:
    assert marks(PACKAGE) == []


@pytest.mark.parametrize(
    ("provenance", "repository", "mark"),
    [
        ("https://github.com/acme/weather", REPOSITORY, "provenance"),
        ("https://github.com/acme/weather", "", "provenance"),
        ("https://github.com/acme/weather", "https://github.com/acme/weather/tree/main/x", "provenance"),
        ("https://github.com/evil/weather", REPOSITORY, "provenance_of_other"),
    ],
)
def test_a_package_is_built_from_the_repository_of_the_entry(provenance: str, repository: str, mark: str) -> None:
    package = evolve(PACKAGE, provenance=provenance)
    assert marks(package, repository) == [(mark, "npm", "2026-11-26T00:00:00Z", provenance)]


def test_all_facts_of_a_package() -> None:
    package = evolve(PACKAGE, names_server=True, deprecation="Use rain.", released_at="2026-10-01T00:00:00Z")
    assert [fact[0] for fact in marks(package)] == ["package_names_server", "package_deprecated", "released"]
    assert marks(package)[-1] == ("released", "npm", "2026-10-01T00:00:00Z", "weather 1.3.0")
    assert [fact[0] for fact in marks(evolve(PACKAGE, names_server=False))] == ["package_names_other"]


def test_keys_of_repositories() -> None:
    assert repository_key(REPOSITORY) == "github.com/acme/weather"
    assert repository_key("https://[") == repository_key("https://github.com") == repository_key("") == ""
