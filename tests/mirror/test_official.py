"""Which upstreams may mark entries as listed in the official registry."""

from __future__ import annotations

from typing import Any

import pytest

from directory_server.domain.details import detail_of
from directory_server.domain.entries import OFFICIAL, mcp_id_of
from directory_server.mirror import Upstream
from directory_server.serialization import decode_entry

from ..contract import awaited
from .conftest import Harness
from .registry import registry_entry

OWN = "io.github.mcp-directory-server/entry"


async def is_official(harness: Harness, name: str) -> bool:
    entry = await harness.store.entry(mcp_id_of(name))
    assert entry is not None
    assert detail_of(entry).official == entry.is_official
    return entry.is_official


@awaited
async def test_entries_of_other_upstreams_are_not_official(harness: Harness) -> None:
    harness.registry.entries = [registry_entry("x/a"), {**registry_entry("x/b"), "official": True}]
    await harness.mirror.sync(harness.upstream())
    assert not await is_official(harness, "x/a")
    assert not await is_official(harness, "x/b")
    # The status and dates of its entries are used.
    harness.registry.changed = [registry_entry("x/a", status="deleted")]
    await harness.mirror.sync(harness.upstream())
    assert harness.names() == ["x/b"]


@awaited
async def test_changing_the_official_setting_updates_all_entries(harness: Harness) -> None:
    without_meta: dict[str, Any] = {"server": registry_entry("x/b")["server"]}
    harness.registry.entries = [registry_entry("x/a"), without_meta]
    for official in (False, True, False):
        report = await harness.mirror.sync(harness.upstream(official=official))
        # A changed setting needs a full sync.
        assert report.full
        assert await is_official(harness, "x/a") == official
        assert not await is_official(harness, "x/b")
    report = await harness.mirror.sync(harness.upstream(official=True))
    assert report.changed == 1


@awaited
async def test_an_upstream_directory_server_marks_its_official_entries(harness: Harness) -> None:
    local, official = registry_entry("x/local"), registry_entry("x/official")
    local["_meta"][OWN] = {"official": False}
    official["_meta"][OWN] = {"official": True}
    harness.registry.entries = [local, official]
    await harness.mirror.sync(harness.upstream(official=True))
    assert not await is_official(harness, "x/local")
    assert await is_official(harness, "x/official")
    await harness.mirror.sync(harness.upstream())
    assert not await is_official(harness, "x/official")


@pytest.mark.parametrize(
    ("url", "is_official"),
    [
        ("https://registry.modelcontextprotocol.io", True),
        ("https://Registry.ModelContextProtocol.io:443/v0.1/servers/", True),
        ("http://registry.modelcontextprotocol.io", False),
        ("https://registry.modelcontextprotocol.io:8443", False),
        ("https://registry.modelcontextprotocol.io@mirror.example", False),
        ("https://registry.modelcontextprotocol.io.mirror.example", False),
        ("https://mirror.example/registry.modelcontextprotocol.io", False),
    ],
)
def test_the_official_registry_proves_itself_by_its_host(url: str, is_official: bool) -> None:
    assert Upstream("a", url).is_official == is_official
    assert Upstream("a", url, official=True).is_official
    assert not Upstream("a", url, start="/srv/dump.json").is_official


@awaited
async def test_a_full_sync_says_that_claims_do_not_count(harness: Harness) -> None:
    harness.registry.entries = [registry_entry("x/a"), registry_entry("x/b")]
    note = "Not counted as official, since upstream.official is not set: 2 entries."
    assert (await harness.mirror.sync(harness.upstream())).note == note
    assert not (await harness.mirror.sync(harness.upstream(official=True))).note


def test_an_entry_cannot_mark_itself_as_official() -> None:
    claimed = {**registry_entry("x/a"), "official": True, "is_official": True}
    assert not decode_entry(claimed).is_official
    assert OFFICIAL in decode_entry(claimed).meta
