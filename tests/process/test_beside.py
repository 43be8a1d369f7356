"""What an operator does beside a running server shows there without a restart."""

from __future__ import annotations

import time

import pytest

from .conftest import Installation, Server, entry_line, until

pytestmark = pytest.mark.process

AT_ONCE = 4.0
"""Seconds until a running server knows what another process did: one is promised, the rest is for busy machines."""


def test_an_import_is_found(sample_server: tuple[Installation, Server]) -> None:
    installation, server = sample_server
    key = installation.new_key("--limit", "unlimited")
    assert server.search_names("xylophone", key) == []
    installation.command("import", "-", stdin=entry_line("a.example/music", "Play the xylophone."))
    until(lambda: server.search_names("xylophone", key) == ["a.example/music"], "the new entry", AT_ONCE)
    installation.command("import", "-", stdin=entry_line("a.example/music", "Play the glockenspiel."))
    until(lambda: server.search_names("glockenspiel", key) == ["a.example/music"], "the changed entry", AT_ONCE)
    assert server.search_names("xylophone", key) == []


def test_a_new_key_works_at_once(sample_server: tuple[Installation, Server]) -> None:
    installation, server = sample_server
    assert server.search("github", installation.new_key()).status == 200


def test_a_revoked_key_and_its_stream_end_within_a_second(sample_server: tuple[Installation, Server]) -> None:
    installation, server = sample_server
    key = installation.new_key()
    stream, other = server.open_stream(key), server.open_stream(installation.new_key())
    installation.command("key", "revoke", installation.key_ids()[-2])
    revoked = time.monotonic()
    assert server.search("github", key).json["error"] == "unauthorized"
    assert stream.read() == b"retry: 3000\n\n"
    assert time.monotonic() - revoked < AT_ONCE
    assert not other.isclosed()
    other.close()


def test_a_rotated_key_has_two_secrets_one_quota_and_its_stream(sample_server: tuple[Installation, Server]) -> None:
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
