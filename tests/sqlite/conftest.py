"""Fixtures: databases that are closed after the test, and threads that the test controls."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from twisted.internet.defer import Deferred
from twisted.python.failure import Failure

from directory_server.sqlite import Database
from directory_server.sqlite._database import Schema

Open: TypeAlias = Callable[[Schema], Database]


class Thread:
    """An Offload whose thread runs a step on request of the test."""

    def __init__(self) -> None:
        self.asked: list[tuple[Callable[[], Any], Deferred[Any]]] = []

    async def __call__(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        done: Deferred[Any] = Deferred()
        self.asked.append((partial(function, *args, **kwargs), done))
        return await done

    def step(self) -> None:
        """Run the oldest function and pass its result to the reactor."""
        self.work()()

    def work(self) -> Callable[[], None]:
        """Run the oldest function; return a function that passes its result to the reactor."""
        function, done = self.asked.pop(0)
        try:
            result = function()
        except Exception:
            result = Failure()
        return lambda: done.callback(result)


def outcomes(*asked: Deferred[Any]) -> list[Any]:
    """Return the results of Deferreds, `...` for pending ones and the exception type of failed ones."""
    seen: list[Any] = []
    for each in asked:
        each.addErrback(lambda failure: failure.type)
        seen.append(getattr(each, "result", ...))
    return seen


@pytest.fixture
def open_database(tmp_path: Path) -> Iterator[Open]:
    """Return a function that opens a database of one folder, as another process would, at each call."""
    opened = []

    def open_one(schema: Schema) -> Database:
        opened.append(Database(tmp_path, schema))
        return opened[-1]

    yield open_one
    for database in opened:
        database.close()
