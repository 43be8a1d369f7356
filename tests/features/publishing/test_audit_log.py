"""The audit log of publisher tokens."""

from __future__ import annotations

from directory_server.features.publishing.service import OldRecords
from directory_server.run_sync import run_sync

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
    old = OldRecords(server.publication_log, server.clock.seconds, lifetime=31_536_000.0)
    publisher.publish(server_json())
    server.clock.advance(31_536_000.0 - 1)
    run_sync(old.forget())
    assert len(publisher.log()) == 1
    server.clock.advance(1)
    run_sync(old.forget())
    assert publisher.log() == []
