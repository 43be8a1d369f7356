"""Changes that the command makes beside a running server apply without a restart."""

from __future__ import annotations

import pytest

from .conftest import Installation, Server, entry_line, until

pytestmark = pytest.mark.process


def test_imported_entries_are_found(sample_server: tuple[Installation, Server]) -> None:
    installation, server = sample_server
    key = installation.new_key("--limit", "unlimited")
    assert server.search_names("xylophone", key) == []
    installation.command("import", "-", stdin=entry_line("a.example/music", "Play the xylophone."))
    until(lambda: server.search_names("xylophone", key) == ["a.example/music"], "the new entry")
    installation.command("import", "-", stdin=entry_line("a.example/music", "Play the glockenspiel."))
    until(lambda: server.search_names("glockenspiel", key) == ["a.example/music"], "the changed entry")
    assert server.search_names("xylophone", key) == []


def test_a_new_key_is_accepted_by_the_next_request(sample_server: tuple[Installation, Server]) -> None:
    installation, server = sample_server
    assert server.search("github", installation.new_key()).status == 200


def test_a_revoked_key_is_rejected_by_the_next_request_and_its_stream_ends(
    sample_server: tuple[Installation, Server],
) -> None:
    installation, server = sample_server
    key = installation.new_key()
    stream, other = server.open_stream(key), server.open_stream(installation.new_key())
    installation.command("key", "revoke", installation.key_ids()[-2])
    assert server.search("github", key).json["error"] == "unauthorized"
    # The server ends the stream by itself: the next heartbeat is further away than the client waits.
    assert stream.read() == b"retry: 3000\n\n"
    assert not other.isclosed()
    other.close()


def test_a_rotated_key_has_two_secrets_and_one_quota(sample_server: tuple[Installation, Server]) -> None:
    installation, server = sample_server
    old = installation.new_key("--limit", 3)
    key_id = installation.key_ids()[-1]
    assert server.search("github", old).headers["X-RateLimit-Remaining"] == "2"
    new = installation.command("key", "rotate", key_id).strip()
    assert server.search("github", new).headers["X-RateLimit-Remaining"] == "1"
    assert server.search("github", old).headers["X-RateLimit-Remaining"] == "0"
    assert server.search("github", new).json["error"] == "rate_limited"
    newer = installation.command("key", "rotate", key_id, "--grace", "0m").strip()
    assert server.search("github", new).json["error"] == "unauthorized"
    assert server.search("github", newer).json["error"] == "rate_limited"
