"""Fixture: a directory with webhooks, on SQLite and PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import pytest_twisted  # type: ignore[import-untyped]
from twisted.internet.task import Clock

from ...tables.conftest import OpenTables
from .stubs import NOW, Directory


@pytest.fixture
def directory_of_webhooks(open_tables: OpenTables) -> Iterator[Directory]:
    clock = Clock()
    clock.advance(NOW)
    directory = Directory.of(open_tables, clock)
    yield directory
    for process in directory.processes:
        if process.dispatcher.running:
            pytest_twisted.blockon(process.dispatcher.stopService())
