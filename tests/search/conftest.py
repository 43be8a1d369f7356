"""`ENGINE=none pytest tests/search` runs the tests of the search without the compiled engine."""

from __future__ import annotations

import os

import pytest

from directory_server.search.index import arrays
from directory_server.search.query import terms

if os.environ.get("ENGINE") == "none":
    arrays.engine = None


@pytest.fixture
def large_collection(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let words of a few documents be as rare as in a large collection."""
    monkeypatch.setattr(terms, "DOCUMENTS_FOR_EACH", 1)
