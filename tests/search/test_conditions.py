"""Conditions in queries: which words state them, and how they change the order of hits."""

from __future__ import annotations

import numpy as np
import pytest

from directory_server.domain.entries import PUBLISHER
from directory_server.domain.facts import Fact, language_bit
from directory_server.search.query.parsing import parse
from directory_server.search.tables.conditions import LEAST_FACTOR, Condition, factors, find_conditions
from tests.contract.index import make_entry

from . import OTHERS, index_of, search, search_names


def words_of(keywords: str) -> list[str]:
    return [part for parts, _ in parse(keywords).whole for part in parts]


def stated(keywords: str) -> tuple[str, list[str]]:
    """Return the words of the topic, and the labels of the conditions; a `?` marks those that may be the topic."""
    request = find_conditions(words_of(keywords))
    labels = [condition.label + ("" if condition.is_certain else "?") for condition in request.conditions]
    return " ".join(request.words), labels


@pytest.mark.parametrize(
    ("keywords", "expected"),
    [
        ("weather", ("weather", [])),
        ("weather no API key", ("weather", ["no key needed"])),
        ("weather without an API key, self-hosted", ("weather", ["no key needed", "self-hosted"])),
        ("keyless weather", ("weather", ["no key needed"])),
        ("api key rotation", ("api key rotation", [])),
        ("read-only mysql", ("mysql", ["read-only"])),
        ("memory written in Rust", ("memory", ["in rust"])),
        ("MIT or Apache licensed editor", ("editor", ["MIT licence or Apache licence"])),
        ("editor, apache or mit license", ("editor", ["Apache licence or MIT licence"])),
        ("memory in Rust or Go", ("memory", ["in rust or in go"])),
        ("python or rust based memory", ("memory", ["in python or in rust"])),
        ("memory in Rust or games", ("memory or games", ["in rust"])),
        ("memory rust", ("memory rust", ["in rust?"])),
        ("azure devops c#", ("azure devops csharp", ["in csharp?"])),
        ("written in go: github", ("github", ["in go"])),
        ("go home", ("go home", [])),
        ("local news", ("local news", ["runs locally?"])),
        ("local news, run locally", ("local news", ["runs locally"])),
        ("transcribe audio offline", ("transcribe audio", ["works offline"])),
        ("grafana docker image", ("grafana docker image", ["container?"])),
        ("docker image scanner", ("docker image scanner", [])),
        ("free maps", ("free maps", ["free?"])),
        ("open source crm", ("crm", ["open source"])),
        ("wetter ohne API-Schlüssel", ("wetter", ["no key needed"])),
        ("météo sans clé API", ("meteo", ["no key needed"])),
        ("tiempo sin registro", ("tiempo", ["no key needed"])),
        ("无需密钥的天气", ("的天气", ["no key needed"])),
        ("天気 登録不要", ("天気", ["no key needed"])),
        ("날씨 로그인 없이", ("날씨", ["no key needed"])),
        ("self-hosted open source", ("self hosted open source", [])),
        ("docker", ("docker", [])),
        ("go mcp server for github", ("for github", ["in go"])),
        ("swift server for reminders", ("swift server for reminders", ["in swift?"])),
        ("swift payments", ("swift payments", [])),
        ("pokemon go", ("pokemon go", [])),
        ("c compiler", ("c compiler", [])),
        ("firmware written in c", ("firmware", ["in c"])),
        ("c++ debugger", ("cpp debugger", ["in cpp?"])),
        ("MIT licensed pdf", ("pdf", ["MIT licence"])),
        ("pdf under the MIT license", ("pdf", ["MIT licence"])),
        ("MIT courses", ("mit courses", [])),
        ("apache 2.0 vector database", ("vector database", ["Apache licence"])),
        ("apache kafka", ("apache kafka", [])),
        ("pdf with a permissive license", ("pdf", ["permissive licence"])),
        ("git history without a github account", ("git history", ["no key needed"])),
        ("speech without an account", ("speech", ["no key needed"])),
        ("merge without a conflict", ("merge without a conflict", [])),
    ],
)
def test_words_state_conditions(keywords: str, expected: tuple[str, list[str]]) -> None:
    assert stated(keywords) == expected


def test_an_entry_that_satisfies_a_condition_comes_before_a_better_match() -> None:
    keyless = make_entry("org.example/sky", "Weather of many places and times. No API key needed.")
    index = index_of(make_entry("org.example/weather", "Weather"), keyless, *OTHERS)
    assert search_names(index, "weather")[0] == "org.example/weather"
    assert search_names(index, "weather without api key")[0] == "org.example/sky"


def test_a_condition_finds_nothing_beside_the_topic() -> None:
    other = make_entry("org.example/mail", "Self-hosted mail. Self-hosted, no API key.")
    index = index_of(make_entry("org.example/weather", "Weather"), other, *OTHERS)
    assert search_names(index, "self-hosted weather") == ["org.example/weather"]


def test_a_contrary_fact_lowers_and_an_unknown_one_does_not() -> None:
    index = index_of(
        make_entry("org.example/a-key", "Weather. Requires an API key."),
        make_entry("org.example/b-unknown", "Weather, always current indeed."),
        *OTHERS,
    )
    assert search_names(index, "weather no api key") == ["org.example/b-unknown", "org.example/a-key"]


def test_a_name_with_the_words_of_a_condition_is_found_by_it() -> None:
    named = make_entry("org.example/read-only-mysql", "Queries tables")
    other = make_entry("org.example/mysql", "Read-only MySQL")
    index = index_of(named, other, *OTHERS)
    assert search_names(index, "read-only-mysql")[0] == "org.example/read-only-mysql"


def test_a_factor_is_bounded() -> None:
    bits = [int(each) for each in (Fact.KEY, Fact.FREE, Fact.NO_KEY)]
    condition = Condition("x", int(Fact.NO_KEY), int(Fact.FREE), int(Fact.KEY))
    facts, whole = np.array(bits, np.uint64), np.ones(3, np.float32)
    low, partial, full = factors([condition], facts, whole).tolist()
    assert LEAST_FACTOR < low < 1 < partial < full < 2
    assert factors([condition] * 9, facts[:1], whole[:1]).tolist() == [LEAST_FACTOR]
    assert factors([], facts, whole).tolist() == [1, 1, 1]


def test_either_of_two_conditions_is_enough() -> None:
    (condition,) = find_conditions(words_of("editor in Rust or Go")).conditions
    bits = [language_bit(name) for name in ("rust", "go", "python")]
    rust, go, python = factors([condition], np.array(bits, np.uint64), np.ones(3, np.float32)).tolist()
    assert rust == go > 1 > python


def test_a_reward_grows_with_the_covered_share_of_the_query() -> None:
    condition = Condition("x", int(Fact.NO_KEY), 0, int(Fact.KEY))
    covered = np.array([0, 0.25, 1], np.float32)
    nothing, quarter, whole = factors([condition], np.full(3, int(Fact.NO_KEY), np.uint64), covered).tolist()
    assert nothing == 1
    assert quarter - 1 == pytest.approx((whole - 1) / 2)
    assert len({*factors([condition], np.full(3, int(Fact.KEY), np.uint64), covered).tolist()}) == 1


def test_conditions_are_not_louder_than_the_topic() -> None:
    free = {"_meta": {PUBLISHER: {"license": "MIT", "language": "Rust"}}}
    topic = make_entry("org.example/topic", "Casts a hexagram with coins")
    other = make_entry("org.example/museum-of-old-coins", "Opening hours", **free)
    index = index_of(topic, other, *OTHERS)
    assert search_names(index, "hexagram of coins in rust mit licensed")[0] == "org.example/topic"


UNKNOWN = "unknown: no key needed, unknown: self-hosted"


@pytest.mark.parametrize(
    ("keywords", "limit", "reasons"),
    [
        (
            "an umbrella, no api key, self-hosted",
            9,
            {"sky": "no key needed, self-hosted", "rain": UNKNOWN, "shop": UNKNOWN},
        ),
        ("weather", 9, {}),
        ("do I need an umbrella", 9, {}),
        ("weather self-hosted", 1, {"sky": "self-hosted"}),
        ("umbrella in rust", 9, dict.fromkeys(("sky", "rain", "shop"), "unknown: in rust")),
        # At most three.
        ("weather self-hosted, keyless, offline, read-only", 1, {"sky": "self-hosted, no key needed, works offline"}),
    ],
)  # fmt: skip
def test_hits_have_the_conditions_that_they_satisfy_as_reasons(
    keywords: str, limit: int, reasons: dict[str, str]
) -> None:
    sky = make_entry("org.example/sky", "Weather forecast. No API key, self-hosted, offline, read-only.")
    others = make_entry("org.example/rain", "Weather forecast"), make_entry("org.example/shop", "Sells an umbrella")
    hits = search(index_of(sky, *others, *OTHERS, batch=2), keywords, limit).hits
    found = hits.reasons()
    names = [hit.name.rpartition("/")[2] for hit in hits]
    assert (dict(zip(names, found, strict=True)) if found else {}) == reasons
