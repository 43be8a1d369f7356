"""Lists of entries on two servers: both show a reader the same, and one follows changes when the other has stopped."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ..engines import Engine
from ..process.conftest import Server, entry_line, until
from .conftest import Cluster

pytestmark = pytest.mark.process

ENABLED = "--set", "lists.enabled=true"

RAIN, DRIZZLE, VAULT = "a.example/rain", "a.example/drizzle", "a.example/vault"


def until_seen(server: Server, secret: str, *names: str) -> None:
    """Wait until the key finds the entries `names` and no others by a word that all entries have."""
    until(lambda: set(server.search_names("weather", secret)) == set(names), f"these are listed: {', '.join(names)}")


def test_two_servers_show_the_same_lists(tmp_path: Path, engine: Engine) -> None:
    engine.renew()
    cluster = Cluster(engine, tmp_path)
    other, member = cluster.new_key("--limit", 10_000), cluster.new_key("--limit", 10_000)
    member_id = json.loads(cluster.command("key", "list", "--json"))[-1]["id"]
    cluster.command("lists", "put", "everyone", "--open", "--rule", "rain")
    cluster.command("lists", "group", "add", "data", member_id)
    cluster.command("lists", "put", "vault", "--rule", "storage", "--group", "data")
    with cluster.serve("one", *ENABLED) as one, cluster.serve("two", *ENABLED) as two:
        cluster.command("import", "-", stdin=entry_line(RAIN, "Weather: rain."))
        cluster.command("import", "-", stdin=entry_line(VAULT, "Weather: storage."))
        for server in (one, two):
            until_seen(server, member, RAIN, VAULT)
            until_seen(server, other, RAIN)
        cluster.command("lists", "pick", "everyone", VAULT)
        for server in (one, two):
            until_seen(server, other, RAIN, VAULT)
        cluster.command("lists", "unpick", "everyone", VAULT)
        for server in (one, two):
            until_seen(server, other, RAIN)
        # Either may be the one that writes the lists. The other takes its place.
        one.stop()
        cluster.command("import", "-", stdin=entry_line(DRIZZLE, "Weather: light rain."))
        until_seen(two, other, RAIN, DRIZZLE)
