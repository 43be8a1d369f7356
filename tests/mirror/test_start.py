"""Upstreams whose first sync run reads a dump."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest

from directory_server.mirror import UpstreamFailed

from ..contract import awaited
from .conftest import Harness
from .registry import ABC, NOW, encode_lines, registry_entry


def dump(*entries: Any, date: float = NOW - 5_000) -> bytes:
    return gzip.compress(encode_lines([*entries]), mtime=date)


@awaited
async def test_the_first_sync_run_reads_the_dump_and_the_next_ones_what_has_changed(
    harness: Harness, tmp_path: Path
) -> None:
    (path := tmp_path / "dump.jsonl.gz").write_bytes(dump(*ABC))
    harness.registry.changed = [registry_entry("x/a", status="deleted"), registry_entry("x/d")]
    upstream = harness.upstream(start=str(path))
    report = await harness.mirror.sync(upstream)
    assert (report.full, harness.names(), harness.registry.requests) == (True, ["x/a", "x/b", "x/c"], [])
    path.unlink()
    report = await harness.mirror.sync(upstream)
    # Ten minutes before the date of the dump.
    assert harness.registry.requests[0]["updated_since"] == "2027-01-15T06:26:40Z"
    assert (report.full, harness.names()) == (False, ["x/b", "x/c", "x/d"])


@awaited
async def test_the_next_full_sync_reads_the_registry(harness: Harness, tmp_path: Path) -> None:
    (path := tmp_path / "dump.jsonl.gz").write_bytes(dump(*ABC))
    harness.registry.entries = [*ABC, registry_entry("x/d")]
    await harness.mirror.sync(harness.upstream(start=str(path)))
    report = await harness.mirror.sync(harness.upstream(start=str(path)), full=True)
    assert (report.pages, report.added) == (2, 1)


@awaited
async def test_a_directory_that_has_entries_of_the_upstream_does_not_read_the_dump(
    harness: Harness, tmp_path: Path
) -> None:
    harness.registry.entries = ABC
    await harness.mirror.sync(harness.upstream())
    (path := tmp_path / "dump.jsonl.gz").write_bytes(dump(registry_entry("x/old")))
    await harness.mirror.sync(harness.upstream(start=str(path)))
    assert harness.names() == ["x/a", "x/b", "x/c"]


@pytest.mark.parametrize("body", [encode_lines(ABC), dump(*ABC, date=0), b""])
@awaited
async def test_a_file_without_a_date_is_no_dump(harness: Harness, tmp_path: Path, body: bytes) -> None:
    (path := tmp_path / "dump.jsonl.gz").write_bytes(body)
    with pytest.raises(UpstreamFailed, match="is no dump"):
        await harness.mirror.sync(harness.upstream(start=str(path)))
    assert harness.names() == []


@pytest.mark.parametrize("same_host", [True, False])
@awaited
async def test_the_headers_are_for_the_host_of_the_upstream(harness: Harness, same_host: bool) -> None:
    harness.environ["TOKEN"] = "Bearer secret"
    harness.registry.body = dump(*ABC)
    host = "127.0.0.1" if same_host else "localhost"
    start = f"http://{host}:{harness.port}/file/dump.jsonl.gz"
    await harness.mirror.sync(harness.upstream(start=start, headers=("Authorization: env:TOKEN",)))
    assert harness.names() == ["x/a", "x/b", "x/c"]
    assert harness.registry.headers[0].get("authorization") == ("Bearer secret" if same_host else None)
    # The pages have it in any case.
    await harness.mirror.sync(harness.upstream(start=start, headers=("Authorization: env:TOKEN",)))
    assert harness.registry.headers[-1].get("authorization") == "Bearer secret"
