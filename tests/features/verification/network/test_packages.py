"""What the APIs of package registries say about a package."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import pytest_twisted  # type: ignore[import-untyped]
from attrs import define, evolve
from twisted.internet.defer import Deferred
from twisted.internet.task import Clock, deferLater

from directory_server.domain.checks import PackageStatus, PackageTexts
from directory_server.features.verification.network import PackageChecker, checkers
from directory_server.features.verification.network._oci import LABEL, Hub, Reference, parse
from directory_server.features.verification.results import PackageCheck
from directory_server.runtime.run_sync import inline

from ....contract import awaited
from . import packages
from .packages import SERVER, FakeApi, npm, nuget, oci, pypi, redirect, silent

IDENTIFIERS = {"npm": "@acme/weather", "pypi": "weather", "nuget": "Acme.Weather", "oci": "x.example/acme/weather"}

PUBLISHED = 1_741_064_767.0
"""2025-03-04T05:06:07Z."""


@define(eq=False)
class Harness:
    """A fake API at two origins, and checks of packages there."""

    api: FakeApi
    origin: str
    other: str
    clock: Clock
    checker: PackageChecker

    async def check(self, kind: str, version: str = "1.2.0", server: str = SERVER, **options: Any) -> PackageCheck:
        version = "1.2.0-beta" if kind == "nuget" and version == "1.2.0" else version
        return await self.checker.check(kind, options.get("identifier", IDENTIFIERS[kind]), version, server)

    def serve(self, kind: str, **options: Any) -> None:
        """Serve the package of type `kind` without faults."""
        self.api.documents = {
            "npm": lambda: npm({}),
            "pypi": lambda: pypi({}),
            "nuget": lambda: nuget(self.origin),
            "oci": lambda: oci(self.other, **{LABEL: SERVER}),
        }[kind]()


@pytest.fixture
def harness() -> Iterator[Harness]:
    from twisted.internet import reactor as global_reactor
    from twisted.web.server import Site

    reactor: Any = global_reactor
    clock, api = Clock(), FakeApi()
    ports = [reactor.listenTCP(0, Site(api), interface="127.0.0.1") for _ in range(2)]
    origin, other = (f"http://127.0.0.1:{port.getHost().port}" for port in ports)
    found = checkers(reactor, lambda: 7.0, inline, inline, ["127.0.0.0/8"], clock=clock).packages
    checker = found
    hub = Hub(origin, f"{origin}/token", "fake.example", (other,))
    checker = evolve(checker, origins=dict.fromkeys(("npm", "pypi", "nuget"), origin), hubs={"x.example": hub})
    yield Harness(api, origin, other, clock, checker)
    for port in ports:
        pytest_twisted.blockon(port.stopListening())


@pytest.mark.parametrize("kind", ["npm", "pypi", "nuget", "oci"])
@awaited
async def test_a_package_exists_and_names_its_server(harness: Harness, kind: str) -> None:
    harness.serve(kind)
    check = await harness.check(kind)
    assert check.status is PackageStatus.EXISTS, check.detail
    assert check.names_server is True
    assert check.published_at is not None
    assert int(check.published_at) == PUBLISHED
    assert check.latest_version == ("" if kind == "oci" else "1.3.0")
    assert check.checked_at == 7.0
    assert (await harness.check(kind, server="io.github.acme/other")).names_server is False
    # A longer name of the package does not name this server.
    assert (await harness.check(kind, server=SERVER[:-1])).names_server is False


@awaited
async def test_npm_and_pypi_have_the_texts_of_a_package(harness: Harness) -> None:
    expected = PackageTexts("Forecasts.", ("weather", "tides"), "Weather Ask for storms.")
    readme = "# Weather\n\nAsk for *storms*.\n"
    described = {"description": "Forecasts.", "keywords": ["weather", "tides"]}
    harness.api.documents = npm(described, readme=readme)
    assert (await harness.check("npm")).texts == expected
    harness.api.documents = pypi({"summary": "Forecasts.", "keywords": "weather,tides", "description": readme})
    assert (await harness.check("pypi")).texts == expected
    assert (await harness.check("pypi", "9.9.9")).texts is None
    harness.api.documents = npm({"description": 7, "keywords": "weather"}, readme=["no", "text"])
    assert (await harness.check("npm")).texts == PackageTexts("", ("weather",))
    harness.serve("oci")
    assert (await harness.check("oci")).texts is None


@pytest.mark.parametrize("kind", ["npm", "pypi", "nuget", "oci"])
@awaited
async def test_a_missing_version_and_a_missing_package_differ(harness: Harness, kind: str) -> None:
    harness.serve(kind)
    check = await harness.check(kind, "9.9.9")
    assert (check.status, check.names_server) == (PackageStatus.VERSION_MISSING, None)
    harness.api.documents.clear()
    assert (await harness.check(kind)).status is PackageStatus.MISSING


@pytest.mark.parametrize("kind", ["npm", "pypi", "nuget", "oci"])
@pytest.mark.parametrize(
    ("fault", "detail"),
    [
        (503, "Its registry answered 503."),
        (400, "Its registry answered 400."),
        (429, "Its registry answered 429."),
        (b"<html>", "invalid JSON"),
    ],
)
@awaited
async def test_a_faulty_registry_is_unreachable(harness: Harness, kind: str, fault: Any, detail: str) -> None:
    harness.serve(kind)
    harness.api.documents = dict.fromkeys(harness.api.documents, fault)
    check = await harness.check(kind)
    assert check.status is PackageStatus.UNREACHABLE
    assert detail in check.detail


@pytest.mark.parametrize("kind", ["npm", "pypi", "nuget", "oci"])
@awaited
async def test_a_value_of_another_type_is_no_error(
    harness: Harness, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packages, "gzipped", lambda document: document)
    harness.serve(kind)
    served = harness.api.documents
    for path, document in served.items():
        if isinstance(document, dict):
            for changed in _with_another_type(document):
                harness.api.documents = {**served, path: changed}
                check = await harness.check(kind)
                assert check.status in PackageStatus, changed


def _with_another_type(value: Any) -> Iterator[Any]:
    """Yield copies of a JSON value, each with one value in it replaced by one of another type."""
    others: list[Any] = [7, "x", True, None, [], [7], {}]
    yield from (other for other in others if type(other) is not type(value) or other == [7])
    if isinstance(value, dict):
        for name, member in value.items():
            yield from ({**value, name: changed} for changed in _with_another_type(member))
    if isinstance(value, list):
        for at, item in enumerate(value):
            yield from ([*value[:at], changed, *value[at + 1 :]] for changed in _with_another_type(item))


@awaited
async def test_a_silent_registry_ends_with_the_timeout(harness: Harness) -> None:
    from twisted.internet import reactor

    harness.api.documents["/@acme%2Fweather/1.2.0"] = silent
    checking = Deferred.fromCoroutine(harness.check("npm"))
    while not harness.api.requests:
        await deferLater(reactor, 0.001)
    harness.clock.advance(30)
    check = await checking
    assert (check.status, check.detail) == (
        PackageStatus.UNREACHABLE,
        "Its registry did not answer within 30 seconds.",
    )


@pytest.mark.parametrize("kind", ["npm", "pypi", "nuget"])
@awaited
async def test_without_a_version_the_latest_one_is_checked(harness: Harness, kind: str) -> None:
    harness.serve(kind)
    check = await harness.check(kind, "")
    assert (check.status, check.latest_version, check.version) == (PackageStatus.EXISTS, "1.3.0", "")


@awaited
async def test_deprecated_versions_of_npm(harness: Harness) -> None:
    harness.api.documents = npm({"deprecated": "Use \u202e@acme/rain\x07 instead."})
    check = await harness.check("npm")
    assert (check.status, check.deprecation) == (PackageStatus.DEPRECATED, "Use @acme/rain\ufffd instead.")


REPOSITORY = "https://github.com/acme/weather"


@pytest.mark.parametrize(
    ("repository", "attestations", "provenance"),
    [
        ({"url": "git+https://github.com/acme/weather.git"}, {"provenance": {"predicateType": "x"}}, REPOSITORY),
        ("git+ssh://git@github.com/acme/weather.git", {"provenance": {}}, REPOSITORY),
        ({"url": "git+https://github.com/acme/weather.git"}, {}, ""),
        ({"url": "git+https://github.com/acme/weather.git"}, {"provenance": "x"}, ""),
        ({"url": "https://evil.example/acme/weather"}, {"provenance": {}}, ""),
        ({"url": "https://github.com/acme/" + "x" * 400}, {"provenance": {}}, ""),
        ({"url": 7}, {"provenance": {}}, ""),
        (None, {"provenance": {}}, ""),
    ],
)
@awaited
async def test_provenance_and_latest_release_of_npm(
    harness: Harness, repository: Any, attestations: Any, provenance: str
) -> None:
    times = {"time": {"1.3.0": "2025-03-05T00:00:00.000Z"}}
    harness.api.documents = npm({"repository": repository, "dist": {"attestations": attestations}}, **times)
    check = await harness.check("npm")
    assert (check.provenance, check.released_at) == (provenance, 1_741_132_800.0)


def attested(harness: Harness, url: Any, document: Any) -> None:
    """Serve a project of PyPI whose file w.whl has a provenance at `url`, the path of which has `document`."""
    harness.api.documents = pypi({})
    index: Any = harness.api.documents["/simple/weather/"]
    index["files"] = [{"filename": "other.whl", "provenance": "x"}, {"filename": "w.whl", "provenance": url}]
    harness.api.documents["/integrity/w"] = document


@pytest.mark.parametrize(
    ("publisher", "provenance"),
    [
        ({"kind": "GitHub", "repository": "acme/weather", "workflow": "release.yml"}, REPOSITORY),
        ({"kind": "GitLab", "repository": "acme/tools/weather"}, "https://gitlab.com/acme/tools/weather"),
        ({"kind": "Google", "email": "x"}, ""),
        ({"kind": "GitHub", "repository": "acme/../weather"}, ""),
        ({"kind": "GitHub", "repository": "acme/weather?x"}, ""),
        ({"kind": "GitHub"}, ""),
        ({"kind": ["GitHub"]}, ""),
        ("x", ""),
    ],
)
@awaited
async def test_provenance_of_pypi(harness: Harness, publisher: Any, provenance: str) -> None:
    attested(harness, f"{harness.origin}/integrity/w", {"attestation_bundles": [{"publisher": publisher}]})
    check = await harness.check("pypi")
    assert (check.status, check.provenance) == (PackageStatus.EXISTS, provenance)
    # It is the only further request.
    assert [path for path, _ in harness.api.requests].count("/integrity/w") == 1


@pytest.mark.parametrize("url", ["https://evil.example/integrity/x", "/integrity/w", 7, None])
@awaited
async def test_a_provenance_elsewhere_is_not_requested(harness: Harness, url: Any) -> None:
    attested(harness, url, 500)
    check = await harness.check("pypi")
    assert (check.status, check.provenance) == (PackageStatus.EXISTS, "")
    assert "/integrity/w" not in [path for path, _ in harness.api.requests]


@awaited
async def test_a_provenance_that_cannot_be_read_is_unknown(harness: Harness) -> None:
    attested(harness, f"{harness.origin}/integrity/w", 500)
    check = await harness.check("pypi")
    assert (check.status, check.provenance) == (PackageStatus.EXISTS, "")


@awaited
async def test_a_package_that_npm_removed_for_security(harness: Harness) -> None:
    harness.api.documents = npm({}, **{"dist-tags": {"latest": "0.0.1-security"}})
    check = await harness.check("npm", "6.6.6")
    assert (check.status, check.detail) == (
        PackageStatus.VERSION_MISSING,
        "npm has replaced it for security reasons.",
    )


@awaited
async def test_the_date_of_a_large_package_of_npm_stays_unknown(harness: Harness) -> None:
    harness.api.documents = npm({}, readme="x" * 2_000_000)
    harness.api.documents["/-/package/@acme%2Fweather/dist-tags"] = {"latest": "1.3.0"}
    check = await harness.check("npm")
    assert (check.status, check.latest_version, check.published_at) == (PackageStatus.EXISTS, "1.3.0", None)


@pytest.mark.parametrize(
    ("info", "status", "deprecation"),
    [
        ({"yanked": True, "yanked_reason": "Broken."}, {}, "Broken."),
        ({}, {"status": "quarantined"}, "Its project is quarantined."),
        ({}, {"status": "deprecated", "reason": "Use rain."}, "Use rain."),
    ],
)
@awaited
async def test_yanked_and_flagged_projects_of_pypi(
    harness: Harness, info: dict[str, Any], status: dict[str, Any], deprecation: str
) -> None:
    harness.api.documents = pypi(info, status)
    check = await harness.check("pypi")
    assert (check.status, check.deprecation) == (PackageStatus.DEPRECATED, deprecation)


@awaited
async def test_an_active_project_of_pypi_is_not_deprecated(harness: Harness) -> None:
    harness.api.documents = pypi({}, {"status": "active"})
    assert (await harness.check("pypi")).status is PackageStatus.EXISTS
    _, headers = harness.api.requests[-1]
    assert headers["accept"] == "application/vnd.pypi.simple.v1+json"


@awaited
async def test_a_version_of_a_large_project_of_pypi_is_found(harness: Harness) -> None:
    harness.api.documents = pypi({})
    harness.api.documents["/pypi/weather/json"] = b" " * 3_000_000
    check = await harness.check("pypi")
    assert (check.status, check.latest_version, check.names_server) == (PackageStatus.EXISTS, "", True)


@pytest.mark.parametrize(
    ("entry", "deprecation"),
    [
        ({"deprecation": {"reasons": ["Legacy", "Other"], "message": "Use Acme.Rain."}}, "Use Acme.Rain."),
        ({"deprecation": {"reasons": ["Legacy", "CriticalBugs"]}}, "Legacy, CriticalBugs"),
        ({"listed": False, "published": "1900-01-01T00:00:00+00:00"}, "It is not listed."),
    ],
)
@awaited
async def test_deprecated_and_unlisted_versions_of_nuget(
    harness: Harness, entry: dict[str, Any], deprecation: str
) -> None:
    harness.api.documents = nuget(harness.origin, **entry)
    check = await harness.check("nuget")
    assert (check.status, check.deprecation) == (PackageStatus.DEPRECATED, deprecation)
    assert (check.published_at is None) == ("published" in entry)


@awaited
async def test_pages_of_other_hosts_are_not_requested(harness: Harness) -> None:
    harness.api.documents = nuget(harness.other)
    check = await harness.check("nuget")
    assert (check.status, check.detail) == (
        PackageStatus.UNREACHABLE,
        "It refers to a host that is not requested.",
    )


@awaited
async def test_the_token_of_an_image_is_not_sent_to_another_host(harness: Harness) -> None:
    harness.serve("oci")
    await harness.check("oci")
    sent = {path: headers.get("authorization") for path, headers in harness.api.requests}
    assert sent["/v2/acme/weather/manifests/1.2.0"] == "Bearer t0ken"
    assert sent["/blob"] is None


@awaited
async def test_blobs_of_unknown_hosts_are_not_requested(harness: Harness) -> None:
    harness.serve("oci")
    harness.api.documents = {
        path: redirect("http://127.0.0.2:8080/blob") if "/blobs/" in path else document
        for path, document in harness.api.documents.items()
    }
    check = await harness.check("oci")
    assert (check.status, check.detail) == (PackageStatus.UNREACHABLE, "It redirects to another host or port.")


@awaited
async def test_an_image_that_is_not_public_is_missing(harness: Harness) -> None:
    harness.serve("oci")
    check = await harness.check("oci", identifier="x.example/acme/gone")
    assert (check.status, check.detail) == (PackageStatus.MISSING, "It does not exist, or is not public.")


@pytest.mark.parametrize(
    ("kind", "identifier", "version"),
    [
        ("mcpb", "https://a.example/x.mcpb", ""),
        ("cargo", "weather", "1"),
        ("npm", "../../etc/passwd", ""),
        ("npm", "weather", "1.0/../../x"),
        ("npm", "weather?x=1", ""),
        ("pypi", "a/b", "1.0"),
        ("pypi", "@acme/weather", "1.0"),
        ("nuget", "Acme/../x", "1.0"),
        ("oci", "quay.io/acme/weather", ""),
        ("oci", "127.0.0.1/acme/weather", ""),
        ("oci", "Acme/Weather", ""),
        ("oci", "x.example/acme/weather@sha256:short", ""),
    ],
)
@awaited
async def test_what_is_not_requested(harness: Harness, kind: str, identifier: str, version: str) -> None:
    check = await harness.checker.check(kind, identifier, version, SERVER)
    assert check.status is PackageStatus.NOT_CHECKABLE
    assert check.detail
    assert harness.api.requests == []


@pytest.mark.parametrize(
    ("identifier", "host", "name", "version"),
    [
        ("alpine", "docker.io", "library/alpine", ""),
        ("mcp/exa", "docker.io", "mcp/exa", ""),
        ("docker.io/acme/weather:0.1.0", "docker.io", "acme/weather", "0.1.0"),
        ("ghcr.io/acme/weather/server:v1", "ghcr.io", "acme/weather/server", "v1"),
        (f"ghcr.io/acme/weather:1@sha256:{'0' * 64}", "ghcr.io", "acme/weather", f"sha256:{'0' * 64}"),
    ],
)
def test_references_of_images(identifier: str, host: str, name: str, version: str) -> None:
    assert parse(identifier) == Reference(host, name, version)
