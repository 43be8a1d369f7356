"""Coroutines that run without a reactor."""

from __future__ import annotations

import pytest
from twisted.internet.defer import Deferred
from twisted.internet.task import Clock, deferLater

from directory_server.runtime.run_sync import inline, run_sync, run_until_done


def test_inline_calls_the_function() -> None:
    assert run_sync(inline(int, "11", base=2)) == 3


def test_exception_of_the_function_is_raised() -> None:
    with pytest.raises(ValueError, match="invalid literal"):
        run_sync(inline(int, "x"))


def test_coroutine_that_waits_is_an_error() -> None:
    async def wait() -> None:
        await Deferred[None]()

    with pytest.raises(RuntimeError, match="waits for something"):
        run_sync(wait())


class Turns(Clock):
    """A reactor that is iterated by hand; each turn takes a second."""

    def iterate(self, delay: float) -> None:
        self.advance(1)


def test_a_reactor_turns_until_a_coroutine_is_done() -> None:
    reactor = Turns()

    async def wait(error: Exception | None = None) -> float:
        await deferLater(reactor, 3)
        if error is not None:
            raise error
        return reactor.seconds()

    assert run_until_done(wait(), lambda: reactor) == 3
    with pytest.raises(ValueError, match="wrong"):
        run_until_done(wait(ValueError("wrong")), lambda: reactor)


def test_a_coroutine_that_does_not_wait_needs_no_reactor() -> None:
    assert run_until_done(inline(int, "11", base=2), pytest.fail) == 3
