"""Vectors of entries in both databases."""

from __future__ import annotations

from directory_server.features.embeddings.tables import Embeddings

from ...tables.conftest import TablesTest
from .contracts import EmbeddingsContract


class TestEmbeddings(TablesTest, EmbeddingsContract):
    async def embeddings(self) -> Embeddings:
        return Embeddings(self.open_tables())
