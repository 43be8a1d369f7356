"""Vectors of entries in both databases."""

from __future__ import annotations

from directory_server.features.embeddings.tables import Embeddings

from ..contract.embeddings import EmbeddingsContract
from .conftest import TablesTest


class TestEmbeddings(TablesTest, EmbeddingsContract):
    async def embeddings(self) -> Embeddings:
        return Embeddings(self.open_tables())
