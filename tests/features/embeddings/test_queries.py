"""The likeness for a query: deadlines, the cache, pauses of a failing endpoint, and pages of one order."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from twisted.internet.defer import Deferred
from twisted.internet.task import Clock

from directory_server.domain.search import Likeness, Position, Query
from directory_server.domain.throttling import FAILURES, LONGEST, SHORTEST, Circuit
from directory_server.features.embeddings import service
from directory_server.features.embeddings.endpoint import EndpointFailed
from directory_server.features.embeddings.service import MAX_RUNNING, MAX_TEXT, QueryLikeness, QueryVectors
from directory_server.features.embeddings.vectors import Vectors
from directory_server.search import entry_key
from tests.logs import captured_lines

from .stubs import StubEndpoint, vector_of

TIMEOUT = 0.125
QUERY = Query("read my mail")


class Harness:
    """Query vectors with a stub of the endpoint and a clock."""

    def __init__(self, **endpoint: Any) -> None:
        self.endpoint = StubEndpoint(**endpoint)
        self.clock = Clock()
        self.clock.advance(1_000)
        self.vectors = Vectors()
        self.vectors.add([(text, vector_of(text)) for text in ("read mail", "stock prices", "weather of today")])
        self.is_ready = True
        self.outcomes: Counter[str] = Counter()
        self.seconds: list[float] = []
        self.queries = QueryVectors(
            self.endpoint,  # type: ignore[arg-type]
            self.vectors,
            self.clock,
            TIMEOUT,
            lambda: self.is_ready,
            lambda outcome: self.outcomes.update([outcome]),
            self.seconds.append,
        )
        self.queries.startService()

    def begin(self, query: Query = QUERY) -> list[Likeness | None]:
        """Begin a search; return a list that gets its likeness."""
        results: list[Likeness | None] = []
        Deferred.fromCoroutine(self.queries(query)).addCallback(results.append)
        return results

    def likeness(self, query: Query = QUERY) -> Likeness | None:
        """Return the likeness of a query for which nothing has to be waited for."""
        (result,) = self.begin(query)
        return result


def test_the_likeness_is_that_of_the_vectors() -> None:
    harness = Harness()
    likeness = harness.likeness()
    assert likeness is not None
    mail, prices = likeness([entry_key("read mail"), entry_key("stock prices")]) or (0, 0)
    assert mail > prices
    assert harness.outcomes == {"used": 1}
    assert harness.seconds == [0.0]


def test_a_vector_is_cached_and_equal_until_vectors_change() -> None:
    harness = Harness()
    first = harness.likeness()
    assert harness.likeness() == first
    assert hash(harness.likeness()) == hash(first)
    harness.vectors.add([("new", vector_of("new"))])
    assert harness.likeness() not in (first, None)
    assert harness.likeness(Query("other words")) != first
    assert harness.endpoint.requests == [["read my mail"], ["other words"]]
    assert harness.outcomes == {"used": 2, "cached": 3}


def test_the_cache_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "CACHED", 2)
    harness = Harness()
    for text in ("a b", "c d", "a b", "e f", "a b", "c d"):
        harness.likeness(Query(text))
    assert harness.endpoint.requests == [["a b"], ["c d"], ["e f"], ["c d"]]


@pytest.mark.parametrize(
    "query",
    [
        Query(""),
        Query("mail"),
        Query("  mail "),
        Query("runs:local mail"),
        Query("-mail slack"),
        Query("a b", sort="stars"),
    ],
)
def test_nothing_is_asked_for_one_word_and_for_other_orders(query: Query) -> None:
    harness = Harness()
    assert harness.likeness(query) is None
    assert harness.endpoint.requests == []
    assert harness.outcomes == {}


def test_filters_are_not_sent_and_long_queries_are_cut() -> None:
    harness = Harness()
    harness.likeness(Query('runs:local read "my mail" -slack'))
    harness.likeness(Query("word " * 800))
    harness.likeness(Query("天气预报"))
    assert harness.endpoint.requests[0][0].split() == ["read", "my", "mail"]
    assert len(harness.endpoint.requests[1][0]) == MAX_TEXT
    assert harness.endpoint.requests[2] == ["天气预报"]


def test_a_search_waits_no_longer_than_the_deadline_and_the_next_one_has_the_vector() -> None:
    harness = Harness(waits=True)
    result = harness.begin()
    harness.clock.advance(TIMEOUT / 2)
    assert result == []
    harness.clock.advance(TIMEOUT / 2)
    assert result == [None]
    harness.clock.advance(1)
    harness.endpoint.answer()
    assert harness.likeness() is not None
    assert harness.outcomes == {"late": 1, "cached": 1}


def test_searches_for_the_same_text_share_a_request() -> None:
    harness = Harness(waits=True)
    results = [harness.begin() for _ in range(3)]
    harness.endpoint.answer()
    assert [result[0] for result in results] == [results[0][0]] * 3
    assert results[0][0] is not None
    assert len(harness.endpoint.requests) == 1


def test_nothing_waits_for_a_request_that_is_late_already() -> None:
    harness = Harness(waits=True)
    first = harness.begin()
    harness.clock.advance(TIMEOUT / 2)
    second = harness.begin()
    harness.clock.advance(TIMEOUT / 2)
    assert first == second == [None]
    assert harness.likeness() is None
    assert harness.outcomes == {"late": 3}
    assert len(harness.endpoint.requests) == 1


def test_few_requests_run_at_a_time() -> None:
    harness = Harness(waits=True)
    running = [harness.begin(Query(f"text {number}")) for number in range(MAX_RUNNING)]
    assert harness.likeness(Query("one more")) is None
    for _ in running:
        harness.endpoint.answer()
    assert harness.outcomes == {"used": MAX_RUNNING, "busy": 1}
    harness.begin(Query("one more"))
    harness.endpoint.answer()
    assert harness.outcomes["used"] == MAX_RUNNING + 1


def test_nothing_is_asked_until_all_entries_have_a_vector() -> None:
    harness = Harness()
    harness.is_ready = False
    assert harness.likeness() is None
    assert harness.endpoint.requests == []
    assert harness.outcomes == {"incomplete": 1}


@pytest.mark.parametrize("error", [EndpointFailed("It answered 500."), ValueError("unexpected")])
def test_a_failure_is_a_search_without_likeness(error: Exception, logged_failures: list[Any]) -> None:
    harness = Harness(waits=True)
    result = harness.begin()
    harness.endpoint.fail(error)
    assert result == [None]
    assert harness.outcomes == {"failed": 1}
    assert len(logged_failures) == isinstance(error, ValueError)
    logged_failures.clear()


def test_a_vector_of_another_length_is_a_failure() -> None:
    harness = Harness(size=7)
    assert harness.likeness() is None
    assert harness.likeness() is None
    assert harness.outcomes == {"failed": 2}


def test_an_endpoint_that_fails_is_left_alone_and_then_tried_once() -> None:
    harness = Harness(error="It answered 500.")
    with captured_lines() as lines:
        for _ in range(FAILURES + 3):
            assert harness.likeness() is None
    assert [line for line in lines if "without embeddings for a while: It answered 500." in line]
    assert len(harness.endpoint.requests) == FAILURES
    assert harness.outcomes == {"failed": FAILURES, "paused": 3}
    harness.endpoint.error = ""
    harness.clock.advance(SHORTEST)
    assert harness.likeness() is not None
    assert harness.likeness(Query("other words")) is not None


def test_an_endpoint_that_is_always_late_is_left_alone() -> None:
    harness = Harness(waits=True)
    for number in range(FAILURES):
        harness.begin(Query(f"text {number}"))
        harness.clock.advance(2 * TIMEOUT)
        harness.endpoint.answer()
    assert harness.likeness() is None
    assert harness.outcomes == {"late": FAILURES, "paused": 1}
    assert harness.likeness(Query("text 0")) is not None


def test_later_pages_are_in_the_order_of_the_first_page() -> None:
    harness = Harness(waits=True)
    later = Query(QUERY.keywords, after=Position(1.0, "name"))
    harness.begin()
    harness.clock.advance(TIMEOUT)
    harness.endpoint.answer()
    assert harness.likeness(later) is None
    assert harness.outcomes == {"late": 1, "unlike_first_page": 1}
    assert harness.likeness() is not None
    assert harness.likeness(later) == harness.likeness()


def test_a_first_hit_without_vectors_is_counted() -> None:
    harness = Harness()
    likeness = harness.likeness()
    assert isinstance(likeness, QueryLikeness)
    assert likeness([entry_key("unknown")]) is None
    assert harness.outcomes == {"used": 1, "missing": 1}


def test_a_stop_cancels_what_runs() -> None:
    harness = Harness(waits=True)
    result = harness.begin()
    harness.queries.stopService()
    assert harness.endpoint.cancelled == 1
    assert result == [None]
    assert not harness.clock.getDelayedCalls()


def broken(now: float = 0.0) -> Circuit:
    circuit = Circuit()
    assert [circuit.fail(now) for _ in range(FAILURES)] == [False] * (FAILURES - 1) + [True]
    return circuit


def test_a_trial_that_never_ends_is_followed_by_another() -> None:
    circuit = broken()
    assert circuit.allows(SHORTEST)
    assert circuit.allows(2 * SHORTEST)


def test_pauses_double_up_to_the_longest() -> None:
    circuit, now, pauses = broken(), 0.0, [SHORTEST]
    for _ in range(8):
        now += pauses[-1]
        assert not circuit.allows(now - 1)
        assert circuit.allows(now)
        circuit.fail(now)
        pauses.append(min(2 * pauses[-1], LONGEST))
    assert pauses[-1] == LONGEST
    circuit.succeed()
    for _ in range(FAILURES):
        circuit.fail(now)
    assert circuit.allows(now + SHORTEST)
