"""A rolling restart: the processes on one port are replaced one by one while clients send requests."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from threading import Event

import pytest

from ..process.conftest import Client, Installation, entry_line, until
from .conftest import charge_count

pytestmark = pytest.mark.process

QUOTA = 10_000


def test_rolling_restart_loses_no_request_and_no_charge(installation: Installation) -> None:
    key, over, counted = installation.new_key("--limit", QUOTA), Event(), Counter[int]()
    installation.command("import", "-", stdin=entry_line("a.example/rain", "It rains."))

    def send_requests(client: Client) -> Counter[int]:
        statuses = Counter[int]()
        while not over.wait(0.01):
            response = client.search("rains", key)
            assert response.json["count"] == 1
            statuses[response.status] += 1
        return statuses

    with ExitStack() as old, ExitStack() as new, ThreadPoolExecutor(4) as pool:
        first = old.enter_context(installation.serve("--reuse-port"))
        listen = f"tcp:{first.port}:interface=127.0.0.1"
        second = old.enter_context(installation.serve("--reuse-port", listen=listen))
        workers = [pool.submit(send_requests, Client(first.port)) for _ in range(4)]
        new.callback(over.set)
        for each in (first, second):
            replacement = new.enter_context(installation.serve("--reuse-port", listen=listen))
            each.stop()
        until(lambda: replacement.request("/readyz").status == 200, "readiness")
        over.set()
        for worker in workers:
            counted += worker.result()
    assert set(counted) == {200}
    assert charge_count(installation) == counted[200] > 0
