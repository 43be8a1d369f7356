"""Fake verifications of the relevance benchmark."""

from __future__ import annotations

from bench.engines.verified import COMMON, fake_package, fake_verification
from directory_server.domain.entries import PUBLISHER, Entry
from directory_server.serialization import restore_indexed

SERVER = {"name": "io.example/a", "version": "1", "description": "Forecasts of the weather."}


def test_a_fake_remote_lists_tools_of_its_own_words() -> None:
    encoded = fake_verification(Entry({**SERVER, "remotes": [{"type": "sse", "url": "https://a.example"}]}))
    assert encoded is not None
    names = [tool.name for tool in restore_indexed(encoded).tools]
    assert names == ["get_forecasts", "list_weather", *(tool.name for tool in COMMON)]


def test_an_entry_without_a_remote_is_not_verified() -> None:
    assert fake_verification(Entry(SERVER)) is None


def test_a_fake_package_has_the_long_texts_of_its_entry() -> None:
    publisher = {"longDescription": "Forecasts and tides.", "readme": "Storms.", "stars": 7}
    packages = [{"registryType": "npm", "identifier": "a"}]
    entry, texts = fake_package(Entry({**SERVER, "packages": packages, "_meta": {PUBLISHER: publisher}}))
    assert texts is not None
    assert (texts.summary, texts.readme) == ("Forecasts and tides.", "Storms.")
    assert entry.publisher == {"stars": 7}
    without = Entry({**SERVER, "_meta": {PUBLISHER: publisher}})
    assert fake_package(without) == (without, None)
