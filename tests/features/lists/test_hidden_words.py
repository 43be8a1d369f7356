"""Words of a hidden entry: a reader who may not see it searches as on a server that does not have it.

A search knows words, their forms, prefixes and corrections. Each of them may tell that an entry exists, and so may a
changed order or number of hits for a known word beside it. The hidden entry itself is in no answer in any case.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any
from urllib.parse import quote

import pytest
from attrs import evolve

from directory_server import sample
from directory_server.domain.entries import PUBLISHER, Entry
from directory_server.domain.scopes import Scope
from directory_server.domain.search import Query
from directory_server.runtime.run_sync import run_sync
from directory_server.serialization import MAX_WORDS

from ...web.conftest import entry, parse_response
from ...web.test_every_route import ValidRequest, modern, rpc
from .conftest import Listed, open_listed, put
from .test_visibility import RANDOM

pytestmark = pytest.mark.slow

COMMON = ["github", "database", "search", "files", "browser", "web", "google", "mail", "calendar", "maps"]
COMMON += ["weather", "slack", "code", "cloud", "memory", "documentation", "issues", "payments", "images", "kubernetes"]
"""Words of visible entries."""

HIDDEN = entry(
    "io.acme/zqxvault",
    "Seals kryptonite ledgers for the branches in Oberhausen. Replaces Swordfishbank; exports to postgres.",
    title="Zqx Vault",
    websiteUrl="https://quibblefax.example.org/start",
    repository={"url": "https://github.com/acme/vaultery", "source": "github"},
    packages=[
        {
            "registryType": "npm",
            "identifier": "@acme/lockbox-tresorium",
            "version": "1.0.0",
            "transport": {"type": "stdio"},
            "environmentVariables": [{"name": "PASSKEYLET", "description": "Of the mainframe in Duisburg."}],
        }
    ],
    _meta={
        PUBLISHER: {
            "tools": [{"name": "acquire_snorkel", "description": "Borrows a periscope."}],
            "tags": ["frobnication"],
            "alternativeDescriptions": ["量子保险箱の鍵"],
        }
    },
)
"""The entry that only `ann` may see. Most of its words are in no other entry."""

FILLERS = frozenset({"and", "com", "for", "from", "http", "https", "the", "to", "in", "of", "org"})


def texts(value: Any) -> Iterator[str]:
    """Yield all texts in a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from texts(inner)


WORDS = sorted(
    {word for text in texts(HIDDEN.server) for word in re.findall(r"\w{2,}", text.lower().replace("_", " "))} - FILLERS
)


def prefixes(word: str) -> Sequence[str]:
    """Return the prefixes of `word`, of two characters and more."""
    return [word[:size] for size in range(2, len(word))]


def edits(word: str) -> Sequence[str]:
    """Return misspellings of `word`, each one edit away: at its beginning, in its middle and at its end."""
    misspelt = set()
    for at in {0, len(word) // 2, max(0, len(word) - 2)}:
        before, after = word[:at], word[at:]
        misspelt |= {before + after[1:], f"{before}e{after}", f"{before}q{after[1:]}"}
        misspelt.add(before + after[1:2] + after[:1] + after[2:])
    return sorted(misspelt - {word, ""})


def inflected(word: str) -> Sequence[str]:
    """Return other forms of `word`: inflections, a phrase, an exclusion, a tag, and a compound with a known word."""
    return [f"{word}s", f"{word}ing", f'"{word}"', f"-{word}", f"tag:{word}", f"database{word}"]


def forms_of(word: str) -> list[str]:
    """Return `word` and what resembles it."""
    return [word, *prefixes(word), *edits(word), *inflected(word)]


FORMS = [form for word in WORDS for form in forms_of(word)]


def visible() -> list[Entry]:
    """Return the entries that every reader sees: those of the sample catalogue."""
    items = json.loads(sample.path().read_text("utf-8"))["servers"]
    return [
        Entry({**item["server"], "name": f"io.github.example/{item['server']['name'].replace('/', '-')}"})
        for item in items
    ]


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Listed, Listed]]:
    """Yield a server with the hidden entry, and one without it."""
    folder = tmp_path_factory.mktemp("words")
    settings = {"ard.access": "public", "mcp.search_tools": True}
    with open_listed(folder / "with", **settings) as having, open_listed(folder / "without", **settings) as lacking:
        for listed in (having, lacking):
            put(listed.lists, "red", rule="namespace:io.acme", groups=["red"])
            put(listed.lists, "open", rule="namespace:io.github.example", is_open=True)
            listed.publish(*visible())
        having.publish(HIDDEN)
        yield having, lacking


def result(listed: Listed, query: Query) -> tuple[Any, ...]:
    """Return what a reader can learn from a page of hits."""
    page = run_sync(listed.server.application.search.index.search(query))
    summary = page.summary
    counts = None if summary is None else (summary.total, summary.facets, summary.namespaces(), summary.corrected)
    hits = page.hits
    return list(hits.records), list(hits.reasons()), list(hits.tools()), page.match, page.next is None, counts


def tools(listed: Listed, query: Query) -> list[tuple[str, str]]:
    """Return the tools that match `query`, with their servers."""
    found = run_sync(listed.server.application.search.index.search_tools(query))
    return [(hit.hit.mcp_id, hit.tool.name) for hit in found]


def differing(servers: tuple[Listed, Listed], scope: Scope, queries: Sequence[Query]) -> list[str]:
    """Return the keywords of the `queries` whose results differ between the servers for readers of `scope`."""
    scoped = [evolve(query, scope=scope) for query in queries]
    having, lacking = servers
    return [query.keywords for query in scoped if result(having, query) != result(lacking, query)]


SCOPE = frozenset({"open"})


def test_the_words_are_of_the_hidden_entry_and_the_common_ones_are_not(servers: tuple[Listed, Listed]) -> None:
    having, _ = servers
    assert {"kryptonite", "zqxvault", "oberhausen", "snorkel", "frobnication", "quibblefax"} < set(WORDS)
    text = json.dumps([shown.server for shown in visible()], ensure_ascii=False).lower()
    assert all(word in text for word in COMMON)
    hidden = HIDDEN.mcp_id
    for keywords in ("kryptonite", "kryptonit", "kryptoneite", "zqxv", "snorkel", "kryptonite database"):
        path = f"/api/open/v1/search?limit=100&keywords={quote(keywords)}&fields=mcp_id"
        for key in (having.ann, having.bob):
            found = {hit["mcp_id"] for hit in having.server.get(path, key=key).json["data"]}
            assert (hidden in found) == (key == having.ann), keywords
    assert all(result(having, Query(word, scope=SCOPE))[0] for word in COMMON)


def test_a_word_a_prefix_or_an_edit_alone_tells_nothing(servers: tuple[Listed, Listed]) -> None:
    assert differing(servers, SCOPE, [Query(form, browse=True) for form in FORMS]) == []


def test_tools_tell_nothing(servers: tuple[Listed, Listed]) -> None:
    having, lacking = servers
    pairs = [f"{form} {COMMON[number % len(COMMON)]}" for number, form in enumerate(FORMS[::3])]
    queries = [Query(keywords, scope=SCOPE) for keywords in (*WORDS, *pairs)]
    assert [query.keywords for query in queries if tools(having, query) != tools(lacking, query)] == []


def test_a_word_beside_each_common_word_tells_nothing(servers: tuple[Listed, Listed]) -> None:
    forms = FORMS if os.environ.get("FAULTS") == "all" else [*WORDS, *forms_of("kryptonite")]
    assert differing(servers, SCOPE, [Query(f"{form} {common}", 20) for form in forms for common in COMMON]) == []


def test_a_prefix_or_an_edit_beside_a_common_word_tells_nothing(servers: tuple[Listed, Listed]) -> None:
    pairs = [f"{form} {COMMON[number % len(COMMON)]}" for number, form in enumerate(FORMS)]
    assert differing(servers, SCOPE, [Query(keywords, 20) for keywords in pairs]) == []


def test_common_words_are_ranked_as_without_the_entry(servers: tuple[Listed, Listed]) -> None:
    pairs = [f"{word} {other}" for word, other in pairwise(COMMON)]
    assert differing(servers, SCOPE, [Query(keywords, 20) for keywords in (*COMMON, *pairs)]) == []


def requests(keywords: str) -> Iterator[tuple[str, ValidRequest]]:
    """Yield the searches of all APIs and pages for `keywords`, by name."""
    words, json_body = quote(keywords), {"Content-Type": "application/json"}
    for path in (
        f"/api/open/v1/search?keywords={words}",
        f"/api/open/v1/search?keywords={words}&limit=3",
        f"/api/open/v1/search?keywords={words}&sort=updated&fields=mcp_id,matching_tools",
        f"/api/open/v1/search?keywords={words}&match=tools",
        f"/api/open/v1/managed-settings/managed-mcp.json?keywords={words}",
        f"/v0.1/servers?search={words}",
        f"/v0.1/servers?search={words}&updated_since=2020-01-01T00:00:00Z",
        f"/v0.1/claude/marketplace.json?q={words}",
        f"/?q={words}",
        f"/?q={words}&sort=stars",
        f"/feed.atom?q={words}",
        f"/r/open/v0.1/servers?search={words}",
    ):
        yield path.replace(words, "…"), ValidRequest("GET", path)
    yield "search_mcp", rpc("tools/call", {"name": "search_mcp", "arguments": {"keywords": keywords}})
    yield "search_tools", modern("tools/call", name="search_tools", arguments={"keywords": keywords})
    text = {"query": {"text": keywords}}
    facets = {**text, "resultType": {"facets": [{"field": "publisher"}, {"field": "tags"}]}}
    for name, body in (("search", text), ("explore", facets)):
        yield f"ARD {name}", ValidRequest("POST", f"/api/ard/v1/{name}", json_body, json.dumps(body).encode())


SAMPLE = ("kryptonite", "krypt", "kryptoneite", "zqxvault", "zqxv", "zqvault", "snorkel", "量子")
"""Forms of which the whole answers are compared."""

KEYWORDS = [
    *(f"{form} {common}".strip() for form, common in zip(SAMPLE, COMMON, strict=False)),
    "kryptonite",
    "zqvault",
    "I need a server that reads the mail of a customer and files it. " * 4 + "It keeps kryptonite ledgers.",
]


@pytest.mark.parametrize("reader", ["bob", ""])
def test_no_answer_of_any_api_tells_of_a_word(servers: tuple[Listed, Listed], reader: str) -> None:
    telling = []
    for keywords in KEYWORDS:
        for name, request in requests(keywords):
            answers = [answer(listed, request, reader) for listed in servers]
            # Some APIs need a key, the registry API has a limit of characters, and no curated entry may match.
            assert answers[0][0] in {200, 401, 404} or len(keywords) > MAX_WORDS, (name, answers[0])
            if answers[0] != answers[1]:
                telling.append(f"{name} {keywords}")
    assert telling == []


def answer(listed: Listed, request: ValidRequest, reader: str) -> tuple[int, bytes]:
    """Return the status and the body of a response to `bob`, or to a client without key and session."""
    headers = {**request.headers, **({"Cookie": f"test={reader}"} if reader else {})}
    key = listed.bob if reader else None
    connection = listed.server.open(request.method, request.path, key=key, headers=headers, body=request.body)
    response = parse_response(connection.received(), request.method)
    connection.close()
    return response.status, RANDOM.sub(b"*", response.body)
