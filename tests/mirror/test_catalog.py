"""Upstreams that are catalogs of ARD: where manifests are found, what becomes of their entries, trust, and bounds."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest
import pytest_twisted  # type: ignore[import-untyped]
from attrs import define, field
from twisted.web.resource import Resource
from twisted.web.server import NOT_DONE_YET, Request, Site

from directory_server.domain.entries import mcp_id_of
from directory_server.domain.kinds import SERVER_TYPES
from directory_server.mirror import Upstream, UpstreamFailed
from directory_server.mirror._catalog_documents import (
    FORMER_RELATION,
    RELATION,
    agent_maps,
    catalog_links,
    markup_manifest,
)
from directory_server.runtime.run_sync import run_sync

from ..contract import awaited
from ..kinds import AGENT, AGENT_CARD, PLUGIN, SKILL, SKILL_FILE
from .conftest import NAME, Harness

CARD, CATALOG = "application/mcp-server-card+json", "application/ai-catalog+json"
WELL_KNOWN = "/.well-known/ai-catalog.json"


def card(name: str = "com.other/weather", **members: Any) -> dict[str, Any]:
    return {"name": name, "version": "1.0.0", "description": "It rains.", **members}


def listed(identifier: str, kind: str = CARD, **members: Any) -> dict[str, Any]:
    """Return an entry of a catalog; its card is embedded unless `members` have a `url` or `data`."""
    content = {} if {"url", "data"} & members.keys() else {"data": card()}
    return {"identifier": f"urn:air:{identifier}", "displayName": identifier, "type": kind, **content, **members}


def manifest(*entries: Any) -> dict[str, Any]:
    return {"specVersion": "1.0", "entries": list(entries)}


@define(eq=False, slots=False)
class Domains(Resource):
    """Hosts of catalogs. `documents` are JSON values, bytes or functions, by path, or by host and path."""

    isLeaf = True
    documents: dict[str, Any] = field(factory=dict)
    requests: list[str] = field(factory=list)
    headers: list[Mapping[str, str]] = field(factory=list)
    etags: bool = False
    harness: Any = None
    port: int = 0

    def __attrs_post_init__(self) -> None:
        Resource.__init__(self)

    def render_GET(self, request: Request) -> Any:
        path, host = request.uri.decode(), request.getRequestHostname().decode()
        found = self.documents.get(f"{host}{path}", self.documents.get(path))
        if path != "/robots.txt":
            self.requests.append(f"{host}{path}")
            self.headers.append(
                {k.decode().lower(): v[0].decode() for k, v in request.requestHeaders.getAllRawHeaders()}
            )
        if callable(found):
            found = found(request)
        if found is None:
            request.setResponseCode(404)
            return b""
        body = found if isinstance(found, bytes | int) else json.dumps(found).encode()
        if self.etags and isinstance(body, bytes):
            request.setETag(b'"%d"' % hash(body))
            if request.code == 304:
                return b""
        return body

    def url(self, path: str = "", host: str = "acme.example") -> str:
        return f"http://{host}:{self.port}{path}"

    def upstream(self, path: str = WELL_KNOWN, **options: Any) -> Upstream:
        options = {"allowed_networks": ("127.0.0.0/8",), "floor": 0.0, **options}
        return Upstream(NAME, self.url(path), kind="catalog", **options)

    async def sync(self, path: str = WELL_KNOWN, **options: Any) -> Any:
        return await self.harness.mirror.sync(self.upstream(path, **options))

    def entry(self, name: str) -> Any:
        return run_sync(self.harness.store.entry(mcp_id_of(name)))

    @property
    def names(self) -> list[str]:
        return self.harness.names()  # type: ignore[no-any-return]


@pytest.fixture
def domains(harness: Harness) -> Iterator[Domains]:
    from twisted.internet import reactor as global_reactor

    reactor: Any = global_reactor
    domains = Domains(harness=harness)
    port = reactor.listenTCP(0, Site(domains), interface="127.0.0.1")
    domains.port = port.getHost().port
    yield domains
    pytest_twisted.blockon(port.stopListening())


@awaited
async def test_a_listed_server_becomes_an_entry(domains: Domains) -> None:
    remote = {"type": "streamable-http", "url": "https://mcp.acme.example/mcp"}
    domains.documents[WELL_KNOWN] = manifest(
        listed(
            "acme.example:server:weather",
            data=card(title="Weather", remotes=[remote], tools=[{"name": "get_forecast"}]),
            representativeQueries=["will it rain in Oslo"],
            capabilities=["ForecastTool"],
            tags=["weather"],
            updatedAt="2026-07-05T00:00:00Z",
        )
    )
    report = await domains.sync()
    assert (report.added, report.rejected, domains.names) == (1, 0, ["example.acme/server.weather"])
    entry = domains.entry("example.acme/server.weather")
    assert (entry.title, entry.brief, entry.version, entry.tags) == ("Weather", "It rains.", "1.0.0", ("weather",))
    assert (entry.remotes, entry.tools[0].name) == ((remote,), "get_forecast")
    assert entry.publisher["representativeQueries"] == ["will it rain in Oslo"]
    assert (entry.official["updatedAt"], entry.is_official) == ("2026-07-05T00:00:00Z", False)


@awaited
async def test_a_card_keeps_its_name_in_the_namespace_of_the_domain(domains: Domains) -> None:
    own, deeper, other = (card(name) for name in ("example.acme/one", "example.acme.api/two", "io.github.acme/three"))
    domains.documents[WELL_KNOWN] = manifest(
        *(listed(f"acme.example:{number}", data=each) for number, each in enumerate((own, deeper, other)))
    )
    await domains.sync()
    assert domains.names == ["example.acme.api/two", "example.acme/2", "example.acme/one"]


@awaited
async def test_a_domain_only_speaks_for_itself(domains: Domains) -> None:
    identifiers = ["acme.example:a", "api.acme.example:b", "other.example:c", "notacme.example:d", "example:e"]
    domains.documents[WELL_KNOWN] = manifest(*map(listed, identifiers))
    report = await domains.sync()
    assert domains.names == ["example.acme.api/b", "example.acme/a"]
    assert report.reasons[0] == "urn:air:other.example:c: The catalog may not speak for other.example."
    assert report.rejected == 3
    await domains.sync(publishers=("*.example", "Example"))
    assert len(domains.names) == 5


@awaited
async def test_a_catalog_elsewhere_only_speaks_for_its_own_domain(domains: Domains) -> None:
    domains.documents[WELL_KNOWN] = manifest(
        listed("acme.example:list", CATALOG, url=domains.url("/list", "other.example")),
        listed("acme.example:sub", CATALOG, url=domains.url("/sub", "sub.acme.example")),
    )
    domains.documents["other.example/list"] = manifest(listed("other.example:a"), listed("acme.example:b"))
    domains.documents["sub.acme.example/sub"] = manifest(listed("acme.example:c"))
    await domains.sync()
    assert domains.names == ["example.acme/c"]
    await domains.sync(publishers=("*",))
    assert domains.names == ["example.acme/c", "example.other/a"]


@awaited
async def test_agents_skills_and_plugins_are_entries(domains: Domains) -> None:
    agent, skill, folder, plugin = (f"urn:air:acme.example:{name}" for name in ("agent:a", "skills:s", "f", "p"))
    domains.documents |= {
        WELL_KNOWN: manifest(
            {**AGENT, "identifier": agent, "data": None, "url": "/agent.json"},
            {**SKILL, "identifier": skill, "data": None, "url": "/skills/SKILL.md"},
            {**SKILL, "identifier": folder, "data": None, "url": "/skills/folder", "description": "Sorts mail."},
            {**PLUGIN, "identifier": plugin},
            {**AGENT, "identifier": "urn:air:acme.example:bad", "data": {"name": "No description"}},
            {**SKILL, "identifier": "urn:air:acme.example:gone", "data": None, "url": "/gone.md"},
            {**SKILL, "identifier": "urn:air:acme.example:latin", "data": None, "url": "/latin.md"},
            {**AGENT, "identifier": "urn:air:other.example:agent:a"},
        ),
        "/agent.json": AGENT_CARD,
        "/skills/SKILL.md": SKILL_FILE.encode(),
        "/latin.md": b"---\nname: \xff\n---\n",
    }
    domains.etags = True
    report = await domains.sync()
    assert (report.added, report.rejected) == (4, 4)
    assert [reason.partition(": ")[2] for reason in report.reasons] == [
        "the agent's card: description is required.",
        "It answered 404.",
        "its card is not UTF-8.",
        "The catalog may not speak for other.example.",
    ]
    entry = domains.entry("example.acme/agent:a")
    assert (entry.kind, entry.brief, entry.card.url) == ("agent", AGENT_CARD["description"], domains.url("/agent.json"))
    assert domains.entry("example.acme/skill:s").readme.startswith("# Check invoices")
    assert domains.entry("example.acme/skill:f").uses[0].how == "folder"
    assert domains.entry("example.acme/plugin:p").card.url == PLUGIN["url"]
    domains.requests.clear()
    assert (await domains.sync()).unchanged == 4
    assert len([path for path in domains.requests if path.endswith("/skills/folder")]) == 0


@awaited
async def test_other_kinds_are_counted_and_stand_in_the_history(domains: Domains) -> None:
    others = ["application/parquet", "application/parquet", "application/json", 7]
    entries = [listed("x:", each) for each in others]  # type: ignore[arg-type]
    older = [listed(f"acme.example:{number}", kind) for number, kind in enumerate(sorted(SERVER_TYPES))]
    domains.documents[WELL_KNOWN] = manifest(*entries, *older, listed("acme.example:m", mediaType=CARD))
    report = await domains.sync()
    assert (report.rejected, len(domains.names)) == (0, 4)
    (run,) = await domains.harness.mirrors.runs(NAME)
    assert run.note == "Skipped: 2 application/parquet, 1 application/json, 1 no type."


@awaited
async def test_cards_are_requested_again_only_if_they_have_changed(domains: Domains) -> None:
    domains.etags = True
    entries = [listed(f"acme.example:{each}", url=f"/cards/{each}") for each in "ab"]
    domains.documents |= {WELL_KNOWN: manifest(*entries), "/cards/a": card(), "/cards/b": card()}
    await domains.sync()
    domains.documents["/cards/b"] = card(description="It snows.")
    report = await domains.sync()
    assert (report.unchanged, report.changed, report.removed) == (1, 1, 0)
    assert ["if-none-match" in each for each in domains.headers] == [False, False, False, False, True, True]
    assert domains.entry("example.acme/b").brief == "It snows."
    # The entry of the catalog has changed, so its card is needed.
    entries[0]["tags"] = ["new"]
    domains.documents[WELL_KNOWN] = manifest(*entries)
    assert (await domains.sync()).changed == 1
    assert domains.entry("example.acme/a").tags == ("new",)


@awaited
async def test_a_manifest_that_is_whole_is_requested_with_its_etag(domains: Domains) -> None:
    domains.etags = True
    domains.documents[WELL_KNOWN] = manifest(listed("acme.example:a"))
    await domains.sync()
    report = await domains.sync()
    assert (report.pages, report.entries, domains.names) == (0, 0, ["example.acme/a"])
    assert "if-none-match" in domains.headers[-1]


@awaited
async def test_a_server_that_is_no_longer_listed_is_removed(domains: Domains) -> None:
    entries = [listed("acme.example:a"), listed("acme.example:b", url="/b"), listed("acme.example:c", url="/c")]
    domains.documents |= {WELL_KNOWN: manifest(*entries), "/b": card(), "/c": card()}
    await domains.sync()
    # A card that fails removes nothing; one that does not exist any more is no longer offered.
    domains.documents["/b"] = unavailable
    domains.documents[WELL_KNOWN] = manifest(*entries[1:])
    assert ((await domains.sync()).removed, len(domains.names)) == (0, 3)
    del domains.documents["/b"]
    report = await domains.sync()
    assert (report.removed, report.rejected, domains.names) == (2, 1, ["example.acme/c"])


def unavailable(request: Request) -> bytes:
    request.setResponseCode(503)
    return b"later"


MARKUP = (
    b"<script>x</script><SCRIPT async type='application/ld+json'>{</script><script type=application/ld+json>[7, "
    + b'{"@type": "Organization"}, {"@context": "https://agenticresourcediscovery.org/context/v1", "@graph": ['
    + json.dumps(listed("acme.example:a")).encode()
    + b"]}]</script>"
)
"""A page whose JSON-LD has an entry, beside other nodes and broken ones."""


def redirect(to: str) -> Callable[[Request], bytes]:
    def respond(request: Request) -> bytes:
        request.redirect(to.encode())
        return b"moved"

    return respond


@awaited
async def test_a_manifest_is_found_from_its_domain(domains: Domains) -> None:
    found = manifest(listed("acme.example:a"))
    for documents in (
        {WELL_KNOWN: found},
        {"/.well-known/ard.json": found},
        {
            "/robots.txt": f"User-agent: *\nAllow: /\nagentmap: {domains.url('/map.json')} # ours\n".encode(),
            "/map.json": found,
        },
        {"/": b'<html><head><LINK href=/linked.json rel="Alternate AI-catalog"></head>', "/linked.json": found},
        # What v0.91 names comes before what v0.9 named.
        {"/": b"<link rel=ard href=/new>", "/new": found, WELL_KNOWN: manifest(listed("acme.example:old"))},
        {"/": MARKUP, WELL_KNOWN: manifest(listed("acme.example:old"))},
        {WELL_KNOWN: manifest(listed("acme.example:a") | {"identifier": "urn:ai:acme.example:a"})},
        # A site that answers every path with its start page.
        {
            WELL_KNOWN: b"<html>",
            "/.well-known/ard.json": b"<html>",
            "/": b"<link rel=ai-catalog href='a'>",
            "/a": found,
        },
        # A manifest elsewhere speaks for the domain whose robots.txt names it.
        {"acme.example/robots.txt": f"Agentmap: {domains.url('/m', 'host.example')}".encode(), "host.example/m": found},
        {WELL_KNOWN: redirect(domains.url("/moved", "www.acme.example")), "www.acme.example/moved": found},
    ):
        domains.documents = documents
        report = await domains.sync("", include=(f"*{len(domains.requests)}", "*"))
        assert (report.entries, domains.names) == (1, ["example.acme/a"]), documents
    domains.documents = {"/weather": MARKUP}
    assert (await domains.sync("/weather", include=("*", "*"))).entries == 1
    domains.documents = {"/": b"<html>"}
    with pytest.raises(UpstreamFailed, match=r"It has no manifest: neither /\.well-known/ard\.json nor "):
        await domains.sync("/")


@awaited
async def test_robots_txt_is_obeyed(domains: Domains) -> None:
    domains.documents |= {
        WELL_KNOWN: manifest(listed("acme.example:a", url="/cards/a"), listed("acme.example:b", url="/b")),
        "/robots.txt": b"User-agent: *\nDisallow: /cards/\n",
        "/cards/a": card(),
        "/b": card(),
    }
    report = await domains.sync()
    assert report.reasons == ["urn:air:acme.example:a: Its robots.txt does not allow the request."]
    assert (domains.names, "acme.example/cards/a" in domains.requests) == (["example.acme/b"], False)


@awaited
async def test_no_card_leads_to_an_address_that_is_not_allowed(domains: Domains) -> None:
    port = domains.port
    urls = [
        "http://10.0.0.1/x",
        "http://169.254.169.254/latest/meta-data/",
        "http://[::1]/",
        "file:///etc/passwd",
        "//[",
        "",
    ]
    urls += ["http://u:p@acme.example/", f"http://2130706433:{port}/", "http://acme.example:22/", "ftp://acme.example/"]
    domains.documents["/to"] = redirect("http://10.0.0.1/")
    entries = [listed(f"acme.example:{number}", url=url) for number, url in enumerate([*urls, "/to"])]
    domains.documents[WELL_KNOWN] = manifest(*entries)
    report = await domains.sync()
    assert (report.rejected, domains.names) == (len(entries), [])
    assert set(domains.requests) == {f"acme.example{WELL_KNOWN}", "acme.example/to"}
    with pytest.raises(UpstreamFailed, match=r"Its address is not public\."):
        await domains.sync(allowed_networks=())


@awaited
async def test_only_the_host_of_the_manifest_gets_the_headers(domains: Domains) -> None:
    domains.harness.environ["TOKEN"] = "s3cret"
    domains.documents |= {
        WELL_KNOWN: manifest(
            listed("acme.example:a", url="/own"),
            listed("acme.example:b", url=domains.url("/card", "other.example")),
            listed("acme.example:c", url="/moved"),
        ),
        "/own": card(),
        "/moved": redirect(domains.url("/card", "third.example")),
        "/card": card(),
    }
    await domains.sync(headers=("X-Token: env:TOKEN",))
    sent = {path: each.get("x-token") for path, each in zip(domains.requests, domains.headers, strict=True)}
    assert len(domains.names) == 3
    assert {path for path, token in sent.items() if token} == {
        f"acme.example{path}" for path in (WELL_KNOWN, "/own", "/moved")
    }


@awaited
async def test_nesting_and_numbers_are_bounded(domains: Domains, monkeypatch: pytest.MonkeyPatch) -> None:
    nested = manifest(listed("acme.example:4"))
    for depth in (3, 2, 1, 0):
        nested = manifest(listed(f"acme.example:{depth}"), listed("acme.example:more", CATALOG, data=nested))
    domains.documents[WELL_KNOWN] = nested
    await domains.sync()
    assert len(domains.names) == 5
    domains.documents[WELL_KNOWN] = manifest(listed("acme.example:more", CATALOG, data=nested))
    report = await domains.sync()
    assert "Catalogs may be nested 4 deep." in report.reasons[0]
    # A catalog that lists itself ends.
    domains.documents[WELL_KNOWN] = manifest(listed("acme.example:more", CATALOG, url=WELL_KNOWN))
    assert (await domains.sync()).pages == 5
    monkeypatch.setattr("directory_server.mirror._catalog_client.MAX_FOREIGN", 3)
    foreign = [listed(f"acme.example:{each}", url=domains.url(f"/{each}", "victim.example")) for each in range(9)]
    domains.documents |= {WELL_KNOWN: manifest(*foreign), **{f"/{each}": card() for each in range(9)}}
    domains.requests.clear()
    report = await domains.sync()
    assert (report.rejected, len(domains.requests)) == (6, 4)
    monkeypatch.setattr("directory_server.mirror._catalog.MAX_ENTRIES", 8)
    with pytest.raises(UpstreamFailed, match="more than 8 entries"):
        await domains.sync()


@awaited
async def test_a_host_that_fails_is_not_asked_for_every_card(domains: Domains) -> None:
    entries = [listed(f"acme.example:{each}", url=f"/{each}") for each in range(9)]
    domains.documents |= {WELL_KNOWN: manifest(*entries), **{f"/{each}": unavailable for each in range(9)}}
    report = await domains.sync()
    assert (report.rejected, len(domains.requests)) == (9, 4)
    assert report.reasons[-1] == "urn:air:acme.example:8: Its host acme.example failed 3 times."


@awaited
async def test_a_card_that_does_not_answer_ends(domains: Domains) -> None:
    domains.documents |= {WELL_KNOWN: manifest(listed("acme.example:a", url="/a")), "/a": lambda request: NOT_DONE_YET}
    syncing = pytest_twisted_deferred(domains.sync())
    while "acme.example/a" not in domains.requests:
        await turn()
    domains.harness.clock.advance(15)
    report = await syncing
    assert report.reasons == ["urn:air:acme.example:a: It did not answer within 15 seconds."]


def pytest_twisted_deferred(coroutine: Any) -> Any:
    from twisted.internet.defer import Deferred

    return Deferred.fromCoroutine(coroutine)


async def turn() -> None:
    from twisted.internet import reactor
    from twisted.internet.task import deferLater

    await deferLater(reactor, 0.001)


@awaited
async def test_documents_of_wrong_types_are_rejected(domains: Domains) -> None:
    wrong: list[Any] = [
        7,
        None,
        {},
        [],
        listed("acme.example:"),
        listed("ACME example:x"),
        listed("acme.example:u", url=7),
    ]
    both = listed("acme.example:b", url="/x", data={})
    cards: list[Any] = [listed(f"acme.example:{number}", data=each) for number, each in enumerate(({}, {"name": 7}))]
    twice = [listed("acme.example:2"), listed("acme.example:2"), listed("acme.example:3", data=card("example.acme/2"))]
    values = listed("acme.example:5", data=card(remotes=[[]] * 30_000))
    domains.documents[WELL_KNOWN] = manifest(*wrong, both, *cards, *twice, values)
    report = await domains.sync()
    # A card without anything has the name and the title of the catalog entry.
    assert domains.names == ["example.acme/0", "example.acme/1", "example.acme/2"]
    assert report.rejected == 3 + 3 + 1 + 2 + 1, report.reasons
    documents: list[Any] = [[], {"entries": {}}, b"{", b"{" + b'"a": [' * 300_000, manifest(*[7] * 10_001)]
    for document in documents:
        domains.documents[WELL_KNOWN] = document
        with pytest.raises(UpstreamFailed):
            await domains.sync()
    assert len(domains.names) == 3


def test_links_and_maps_are_bounded() -> None:
    assert (
        len(
            agent_maps(
                b"Agentmap: /a\nAgentmap: /b\n" * 9
                + b"agentmap:\n"
                + b"".join(b"Agentmap: %d\n" % n for n in range(99))
            )
        )
        == 5
    )
    former = FORMER_RELATION
    assert catalog_links(b"<link " * 100_000 + b"<link rel='x'><link data-rel=ai-catalog href=b>", former) == []
    assert catalog_links(b"<link rel='icon' href='i'>\n<link\nrel='ai-catalog'\nhref='a'/>", former) == ["a"]
    assert catalog_links(b'<link rel="preload ard" href="b"><link rel="shard" href="c">', RELATION) == ["b"]
    assert len(json.loads(markup_manifest(MARKUP * 50))["entries"]) == 10
    assert markup_manifest(b"<script type=application/ld+json>" * 99_999) == b""
