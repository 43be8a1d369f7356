"""Hostile publishers: whatever they send, no server error, and nothing outside their namespace."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from directory_server.runtime.run_sync import run_sync

from ..features.publishing.conftest import new_publisher, server_json
from ..web.conftest import Server

many = settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=3),
    max_leaves=10,
)

NAMES = st.text(max_size=30) | st.builds(
    "{}{}{}".format,
    st.sampled_from(["io.acme/", "io.acme", "IO.ACME/", "io.acme%2F", "io.acme/../", "io.acme.x/", "\u200bio.acme/"]),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
    st.sampled_from(["", "/..", "\n", "/x", "\0", "%00"]),
)

DOCUMENTS = JSON | st.builds(
    lambda name, version, member, value: {**server_json(name, version), member: value},
    NAMES,
    st.sampled_from(["1.0.0", "2.0.0"]) | st.text(max_size=8),
    st.sampled_from(["packages", "remotes", "_meta", "icons", "repository", "title", "name", "version", "x"]),
    JSON,
)

STATUSES = JSON | st.builds(
    lambda status, message: {"status": status, "statusMessage": message},
    st.sampled_from(["active", "deprecated", "deleted", "x", ""]),
    JSON,
)


def encoded(value: Any) -> bytes:
    return json.dumps(value).encode()


def entries_outside(server: Server) -> list[str]:
    listed = run_sync(server.directory._store.listing(("", ""), 1_000, versions="all", include_deleted=True))
    return [each.name for each in listed if not each.name.startswith("io.acme/")]


@many
@given(DOCUMENTS)
def test_any_document_is_published_or_rejected(server: Server, document: Any) -> None:
    before = entries_outside(server)
    response = new_publisher(server, "io.acme/*").publish(encoded(document))
    assert response.status in (200, 400, 403, 422)
    assert response.json["server"]["name"].startswith("io.acme/") if response.status == 200 else response.json["title"]
    assert entries_outside(server) == before
    assert server.request("POST", "/v0/validate", key=None, body=encoded(document)).status in (200, 400, 429)
    server.clock.advance(60)


@many
@given(NAMES, st.text(max_size=10), STATUSES)
def test_any_status_change_keeps_other_names(server: Server, name: str, version: str, body: Any) -> None:
    publisher = new_publisher(server, "io.acme/*")
    before = entries_outside(server)
    path = f"/v0.1/servers/{quote(name.encode(errors='replace'), safe='')}"
    for tail in ("/status", f"/versions/{quote(version.encode(errors='replace'), safe='')}/status"):
        response = publisher.send("PATCH", path + tail, encoded(body))
        # 308 for an empty version or name, which doubles a slash.
        assert response.status in (200, 308, 400, 403, 404, 405, 422)
    assert entries_outside(server) == before
    server.clock.advance(60)
