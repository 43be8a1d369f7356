"""What a failed test with a server shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from . import server_logs
from .process.conftest import until


def test_the_end_of_each_log_has_few_requests(tmp_path: Path) -> None:
    request = "2026-01-01T00:00:00+0000 [directory_server.access#info] GET /healthz 200"
    others = [f"line {number}" for number in range(50)]
    (tmp_path / "server-0.log").write_text("\n".join([*others, *[request] * 100]))
    (tmp_path / "empty.log").touch()
    ends = dict(server_logs.ends(tmp_path))
    assert ends[f"end of {tmp_path}/server-0.log"].splitlines() == [*others[20:], *[request] * 10]
    assert not any("empty.log" in title for title in ends)


def test_each_failure_of_until_names_the_event() -> None:
    with pytest.raises(AssertionError, match="the end: not within 0 seconds"):
        until(lambda: False, "the end", 0)
    with pytest.raises(ZeroDivisionError) as caught:
        until(lambda: 1 / 0, "the import")
    assert caught.value.__notes__ == ["The test waited for this event: the import"]
