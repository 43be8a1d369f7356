"""The audit log of publisher tokens."""

from __future__ import annotations

import re
from typing import Any, cast

from directory_server.config import Config
from directory_server.feature import Host
from directory_server.features.publishing.service import FORGET_INTERVAL, running
from directory_server.features.publishing.tokens import Publication
from directory_server.run_sync import inline, run_sync

from ...web.browsers import Browser
from ...web.conftest import Server
from .conftest import Publisher, server_json


def test_the_log_has_the_network_and_no_secret(publisher: Publisher) -> None:
    publisher.publish(server_json(), address="192.0.2.77")
    publisher.publish(server_json(publisher.secret), address="2001:db8:1:2::3")
    (_, second), (_, first) = run_sync(publisher.server.publication_log.newest())
    assert (first.network, first.label, first.token_id) == ("192.0.2.0/24", "ci", publisher.token.id)
    assert second.network == "2001:db8:1::/48"
    assert publisher.secret not in second.name


def test_old_records_of_the_log_are_deleted(publisher: Publisher, server: Server) -> None:
    publisher.publish(server_json())
    server.clock.advance(31_536_000.0 - 1)
    storage, clock, nothing = server.application.storage, server.clock, cast(Any, None)
    host = Host(Config(), storage, clock, clock.seconds, inline, bus=nothing, metrics=nothing, replaced={})
    (timer,) = running(host).services
    timer.startService()
    assert len(publisher.log()) == 1
    clock.advance(FORGET_INTERVAL)
    assert publisher.log() == []
    timer.stopService()


def test_shows_the_audit_log(server: Server, operator: Browser) -> None:
    operator.get("/admin/publications")
    assert "Nothing was published with a token." in operator.text
    log = server.publication_log
    for number in range(25):
        run_sync(
            log.add(
                Publication(
                    server.clock.seconds(),
                    "tokenid",
                    "<script>alert(1)</script>",
                    "publish",
                    f"io.acme/n{number:02}",
                    "1.0.0",
                    "192.0.2.0/24",
                    "done",
                )
            )
        )
    assert len(operator.get("/admin/publications").body) < 30_000
    assert "io.acme/n24 1.0.0 publish: done" in operator.text
    assert "192.0.2.0/24" in operator.text
    assert "<script>alert" not in operator.page
    following = re.search(r'href="([^"]*)" rel="next"', operator.page)
    assert following
    operator.get(following[1])
    assert re.findall(r"io.acme/n\d\d", operator.text) == [f"io.acme/n{number:02}" for number in (4, 3, 2, 1, 0)]
    assert operator.get("/admin/publications?after=x").status == 200
