"""Upstreams that are files of entries, over HTTP or on this machine."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest

from directory_server.mirror import UpstreamFailed

from ..contract import awaited
from .conftest import NAME, Harness
from .registry import ABC, encode_lines, registry_entry


@pytest.mark.parametrize("name", ["list.json", "list.jsonl", "list.jsonl.gz"])
@awaited
async def test_a_static_file_of_entries_is_synced(harness: Harness, name: str) -> None:
    body = encode_lines(ABC)
    harness.registry.body = gzip.compress(body) if name.endswith(".gz") else body
    upstream = harness.upstream(f"file/{name}")
    report = await harness.mirror.sync(upstream)
    assert (report.full, report.entries, harness.names()) == (True, 3, ["x/a", "x/b", "x/c"])
    again = await harness.mirror.sync(upstream)
    assert (again.entries, harness.registry.headers[-1].get("if-none-match") is not None) == (0, True)
    assert harness.names() == ["x/a", "x/b", "x/c"]
    harness.registry.body = encode_lines([*ABC[:2], registry_entry("x/d"), registry_entry("x/e")])
    assert (await harness.mirror.sync(upstream)).removed == 1
    assert harness.names() == ["x/a", "x/b", "x/d", "x/e"]


@awaited
async def test_a_truncated_file_removes_nothing(harness: Harness) -> None:
    upstream = harness.upstream("file/list.json")
    harness.registry.body = encode_lines(ABC)
    await harness.mirror.sync(upstream)
    harness.registry.body = b'{"servers": [' + encode_lines(ABC[:1]).strip() + b', {"server"'
    with pytest.raises(UpstreamFailed, match=r"Its file cannot be read completely\. "):
        await harness.mirror.sync(upstream)
    assert harness.names() == ["x/a", "x/b", "x/c"]


@awaited
async def test_a_file_with_an_invalid_line_removes_nothing(harness: Harness) -> None:
    upstream = harness.upstream("file/list.jsonl")
    harness.registry.body = encode_lines([registry_entry(f"x/{each}") for each in range(10)])
    await harness.mirror.sync(upstream)
    # The last line is truncated.
    harness.registry.body = harness.registry.body[:-20]
    report = await harness.mirror.sync(upstream)
    assert (report.rejected, report.removed, len(harness.names())) == (1, 0, 10)


@awaited
async def test_the_uncompressed_size_of_a_file_is_limited(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("directory_server.mirror._sync_run.MAX_BYTES", 100_000)
    harness.registry.body = gzip.compress(b" " * 1_000_000)
    with pytest.raises(UpstreamFailed, match=r"holds more than 100,000 bytes"):
        await harness.mirror.sync(harness.upstream("file/list.jsonl.gz"))


@awaited
async def test_a_local_file_is_read_again_after_a_change(harness: Harness, tmp_path: Path) -> None:
    from directory_server.mirror import Upstream

    path = tmp_path / "list.jsonl"
    upstream = Upstream(NAME, str(path))
    with pytest.raises(UpstreamFailed, match=r"cannot be read: No such file or directory\."):
        await harness.mirror.sync(upstream)
    path.write_bytes(encode_lines(ABC))
    assert (await harness.mirror.sync(upstream)).added == 3
    assert (await harness.mirror.sync(upstream)).entries == 0
    path.write_bytes(encode_lines([*ABC, registry_entry("x/d")]))
    os.utime(path, (1, 1))
    assert (await harness.mirror.sync(upstream)).added == 1
