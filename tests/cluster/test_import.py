"""A data directory that is moved to a database: keys, spent quota, sessions and cursors stay good."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..process.conftest import MCP, Installation, entry_line
from .conftest import INITIALIZE, LIST_TOOLS, Cluster

pytestmark = pytest.mark.process

CHANGES = "/api/open/v1/changes"


@pytest.fixture
def installation(tmp_path: Path) -> Installation:
    """Return an empty data directory."""
    return Installation(tmp_path)


def test_clients_continue_on_the_database(cluster: Cluster, installation: Installation) -> None:
    key = installation.new_key("--limit", 5)
    free = installation.new_key("--limit", "unlimited")
    installation.command("import", "-", stdin=entry_line("com.example/weather", "Forecasts of the weather."))
    with installation.serve() as before:
        assert [before.search("weather", key).status for _ in range(3)] == [200] * 3
        found = before.search("weather", free).json
        session = before.request(MCP, free, INITIALIZE).headers["Mcp-Session-Id"]
        cursor = before.request(f"{CHANGES}?since=0", free).json["next"]
        before.stop()
    output = cluster.command("database", "import", installation.data)
    assert "record          1" in output
    assert "spent           3" in output
    with cluster.serve("one") as after:
        assert after.search("weather", free).json == found
        # Two of five requests are left.
        assert [after.search("weather", key).status for _ in range(3)] == [200, 200, 401]
        assert after.request(MCP, free, LIST_TOOLS, **{"Mcp-Session-Id": session}).status == 200
        cluster.command("import", "-", stdin=entry_line("com.example/tides", "Forecasts of the tides."))
        page = after.request(f"{CHANGES}?since={cursor}", free).json
        assert [each["name"] for each in page["data"]] == ["com.example/tides"]
