"""Typical queries and their expected first hits."""

from __future__ import annotations

from directory_server.domain.entries import PUBLISHER, Entry
from tests.contract.index import make_entry

from . import index_of, search_names


def described(name: str, **publisher: object) -> Entry:
    return make_entry(name, _meta={PUBLISHER: publisher})


CATALOGUE = [
    make_entry("io.github.upstash/context7", "Documentation for coding"),
    make_entry("io.github.someone/context7-mcp", "Documentation context7 context7 context7"),
    make_entry("io.github.music/spotify-mcp", "Plays songs"),
    make_entry("io.github.smith/homeassistant", "Switches lights"),
    make_entry("com.example/FileScope", "Shows what depends on what"),
    make_entry("com.github/mcp", "Issues and pull requests", title="GitHub"),
    make_entry("io.github.someone/postgresql-mcp-server", "Asks a database"),
    make_entry("io.github.other/notes", "Keeps notes in a github repository"),
    described("org.example/alpha", descriptions={"zh": "读取和发送邮件", "ko": "법령을 검색"}),
    described("org.example/beta", tags=["weather"], categories=["Climate & Earth"]),
    described("org.example/gamma", tools=[{"name": "getTranscript", "description": "Of a video"}]),
    described("org.example/delta", longDescription="Knows every tramway", readme="and its zeppelins"),
]


FIRST = {
    "context7": "io.github.upstash/context7",
    "io.github.someone/context7-mcp": "io.github.someone/context7-mcp",
    "IO.GitHub.Someone/Context7-MCP": "io.github.someone/context7-mcp",
    "upstash context7": "io.github.upstash/context7",
    "context7 mcp": "io.github.someone/context7-mcp",
    "home-assistant": "io.github.smith/homeassistant",
    "home assistant": "io.github.smith/homeassistant",
    "file scope": "com.example/FileScope",
    "filescope": "com.example/FileScope",
    "github": "GitHub",
    "GitHub": "GitHub",
    "the github mcp server": "GitHub",
    "postgres": "io.github.someone/postgresql-mcp-server",
    "spotfy": "io.github.music/spotify-mcp",
    "psotify": "io.github.music/spotify-mcp",
    "spoti": "io.github.music/spotify-mcp",
    "spotify-m": "io.github.music/spotify-mcp",
    "homeasistant lights": "io.github.smith/homeassistant",
    "song": "io.github.music/spotify-mcp",
    "读取邮件": "org.example/alpha",
    "邮": "org.example/alpha",
    "법령 검색": "org.example/alpha",
    "ｗｅａｔｈｅｒ": "org.example/beta",
    "climate": "org.example/beta",
    "get transcript": "org.example/gamma",
    "tramways": "org.example/delta",
    "zeppelin": "org.example/delta",
}


def test_expected_entry_is_the_first_hit() -> None:
    index = index_of(*CATALOGUE)
    assert {keywords: search_names(index, keywords)[:1] for keywords in FIRST} == {
        keywords: [first] for keywords, first in FIRST.items()
    }


def test_tokens_after_the_limit_are_ignored() -> None:
    index = index_of(make_entry("org.example/mail", "letters"))
    padding = " ".join(f"word{n}" for n in range(31))
    assert search_names(index, f"{padding} letters") == ["org.example/mail"]
    assert search_names(index, f"{padding} word31 letters") == []


def test_tokens_of_a_long_run_after_the_limit_are_ignored() -> None:
    index = index_of(make_entry("org.example/mail", "读取邮件"))
    padding = "".join(chr(0x5000 + n) for n in range(200))
    assert search_names(index, f"读取邮件{padding}") == ["org.example/mail"]
    assert search_names(index, f"{padding}读取邮件") == []
