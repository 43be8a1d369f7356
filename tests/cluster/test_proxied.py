"""Clients of two servers behind a proxy that sends each request to the next one."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import pytest

from ..process import test_python_sdk
from ..process.conftest import MCP, TIMEOUT, Client, Server, entry_line, environment, until
from .conftest import Cluster
from .proxied import HAPROXY, proxied

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(HAPROXY is None, reason="haproxy is not installed: two servers behind a proxy are not tested"),
]

Site = tuple[Cluster, Sequence[Server], Client]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Return a database, its servers, and a client of the proxy in front of them."""
    with proxied(tmp_path_factory.mktemp("site")) as site:
        yield site
        for server in site[1]:
            server.stop()


def test_requests_go_to_both_and_the_quota_is_exact(site: Site) -> None:
    cluster, _, client = site
    key = cluster.new_key("--limit", 10)
    responses = [client.search("github", key) for _ in range(12)]
    assert [each.status for each in responses] == [200] * 10 + [401] * 2
    assert [each.headers["X-RateLimit-Remaining"] for each in responses[:10]] == [str(9 - n) for n in range(10)]
    processes = [each.headers["X-Request-Id"].partition("-")[0] for each in responses]
    assert len(set(processes)) == 2
    assert all(one != other for one, other in pairwise(processes))
    assert len({each.body for each in responses[:10]}) == 1


def test_sdk_client_is_notified_of_an_import(site: Site) -> None:
    cluster, _, client = site
    script = Path(test_python_sdk.__file__).with_name("sdk_listener.py")
    with subprocess.Popen(
        [sys.executable, script, client.url + MCP, cluster.new_key(), "legacy"],
        env=environment(),
        stdout=subprocess.PIPE,
        text=True,
    ) as listener:
        try:
            assert listener.stdout is not None
            assert json.loads(listener.stdout.readline())["version"]
            cluster.command("import", "-", stdin=entry_line("a.example/xylophone", "Plays."))
            assert len(json.loads(listener.stdout.readline())["listed"]) == 20
            assert listener.wait(TIMEOUT) == 0
        finally:
            listener.kill()
    key = cluster.new_key("--limit", "unlimited")

    def both_find_it() -> bool:
        return all(client.search_names("xylophone", key) == ["a.example/xylophone"] for _ in range(2))

    until(both_find_it, "the entry in both indexes")
