"""The attempts of one process pass their contract."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from directory_server.storage._sqlite import ProcessAttempts

from ..contract import in_turn
from ..contract.attempts import AttemptsContract


class TestProcessAttempts(AttemptsContract):
    at_once = staticmethod(in_turn)

    @pytest.fixture(autouse=True)
    def _attempts(self, _clock: None) -> None:
        self.one = ProcessAttempts(self.clock.seconds)

    async def attempts(self, now: Callable[[], float]) -> ProcessAttempts:
        return self.one
