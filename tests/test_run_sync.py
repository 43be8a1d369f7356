"""Coroutines that run without a reactor."""

from __future__ import annotations

import pytest
from twisted.internet.defer import Deferred

from directory_server.run_sync import inline, run_sync


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
