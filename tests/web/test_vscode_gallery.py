"""The requests of VS Code's gallery of MCP servers, as its source sends them, and what it needs of the answers.

Source: `mcpGalleryManifestService.ts` and `mcpGalleryService.ts` in `src/vs/platform/mcp/common` of microsoft/vscode.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest

from directory_server.domain.entries import Entry

from .conftest import Server

PAGE = 50

UNESCAPED = "!'()*-._~"
"""Characters that `encodeURIComponent` leaves, beside letters and digits."""


def read(server: Server, path: str) -> Any:
    response = server.get(path, key=None)
    assert response.status == 200
    return response.json


def gallery(server: Server, text: str = "") -> Iterator[dict[str, Any]]:
    """Yield the server documents that the gallery shows for a search; it fails as the gallery does."""
    version = next(v for v in ("v0.1", "v0") if server.get(f"/{v}/servers?limit=1", key=None).status == 200)
    searched = f"&search={quote(text, safe=UNESCAPED)}" if text else ""
    page = read(server, f"/{version}/servers?limit={PAGE}&version=latest{searched}")
    while True:
        for number, record in enumerate(page["servers"]):
            document = record["server"]
            is_whole = all(isinstance(document.get(f), str) and document[f] for f in ("name", "description", "version"))
            # Without one of these, the gallery leaves a server out; if it is the first, it rejects the page.
            assert is_whole or number
            assert isinstance(record["_meta"], dict)
            if is_whole:
                yield document
        cursor = page["metadata"].get("nextCursor")
        if not cursor:
            return
        # The cursor is not escaped, and the search is not repeated.
        page = read(server, f"/{version}/servers?limit={PAGE}&version=latest&cursor={cursor}")


def publish_many(server: Server) -> list[str]:
    names = [f"io.github.acme/lynx-{number:03}" for number in range(2 * PAGE + 1)]
    server.publish(*(Entry({"name": name, "version": "1.0.0", "description": "Tracks a lynx."}) for name in names))
    return names


def test_the_gallery_lists_all_servers(server: Server) -> None:
    names = publish_many(server)
    assert {document["name"] for document in gallery(server)} >= {*names}


def test_the_gallery_pages_through_a_search(server: Server) -> None:
    names = publish_many(server)
    assert sorted(document["name"] for document in gallery(server, "lynx")) == names
    assert [*gallery(server, "no such/server & more")] == []


def test_the_gallery_reads_an_installed_server_by_its_name(server: Server) -> None:
    for document in [*gallery(server)]:
        newest = read(server, f"/v0.1/servers/{quote(document['name'], safe='')}/versions/latest")
        assert newest["server"] == document
    assert server.get("/v0.1/servers/io.github.nobody%2Fnothing/versions/latest", key=None).status == 404


@pytest.mark.parametrize("description", ["", " "])
def test_a_server_without_a_description_does_not_reject_the_page(server: Server, description: str) -> None:
    server.publish(Entry({"name": "a.a/ocelot", "version": "1.0.0", "description": description}))
    assert [document["name"] for document in gallery(server, "ocelot")] == ["a.a/ocelot"]
