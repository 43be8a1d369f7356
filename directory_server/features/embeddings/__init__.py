"""Embeddings: the first hits of a search are also ranked by a model of an endpoint that the operator chooses."""

from ...feature import Feature

FEATURE = Feature("embeddings", __name__, settings="settings:EmbeddingsConfig", run="service:run", runs_if="url")
