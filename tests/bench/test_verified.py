"""Fake verifications of the relevance benchmark."""

from __future__ import annotations

from bench.engines.verified import COMMON, fake_verification
from directory_server.domain.entries import Entry
from directory_server.serialization import restore_indexed

SERVER = {"name": "io.example/a", "version": "1", "description": "Forecasts of the weather."}


def test_a_fake_remote_lists_tools_of_its_own_words() -> None:
    encoded = fake_verification(Entry({**SERVER, "remotes": [{"type": "sse", "url": "https://a.example"}]}))
    assert encoded is not None
    names = [tool.name for tool in restore_indexed(encoded).tools]
    assert names == ["get_forecasts", "list_weather", *(tool.name for tool in COMMON)]


def test_an_entry_without_a_remote_is_not_verified() -> None:
    assert fake_verification(Entry(SERVER)) is None
