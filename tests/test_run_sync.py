from __future__ import annotations

import pytest
from twisted.internet.defer import Deferred

from directory_server.run_sync import inline, run_sync


def test_calls_at_once() -> None:
    assert run_sync(inline(int, "11", base=2)) == 3


def test_raises_what_the_function_raises() -> None:
    with pytest.raises(ValueError, match="invalid literal"):
        run_sync(inline(int, "x"))


def test_raises_if_the_coroutine_waits() -> None:
    async def wait() -> None:
        await Deferred[None]()

    with pytest.raises(RuntimeError, match="waits for something"):
        run_sync(wait())
