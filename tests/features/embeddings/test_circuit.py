"""The circuit breaker."""

from __future__ import annotations

from directory_server.features.embeddings.queries import FAILURES, LONGEST, SHORTEST, Circuit


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
