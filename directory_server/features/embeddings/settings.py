"""Settings of embeddings."""

from __future__ import annotations

from attrs import frozen

from ...config import AtLeast, Seconds, above_zero, endpoint_url, setting


@frozen
class EmbeddingsConfig:
    """An endpoint of the form `POST /v1/embeddings`, whose model takes part in the order of the first hits."""

    url: str = setting(
        "", "URL of the endpoint, such as http://127.0.0.1:11434/v1/embeddings; if empty: none.", endpoint_url
    )
    model: str = setting("", "Name of the model; another one makes all vectors again.")
    query_model: str = setting("", "Model for queries, if the endpoint has another one for them.")
    key_file: str = setting("", "File with the key of the endpoint.")
    query_prefix: str = setting("", "Text before each query, as the model demands.")
    passage_prefix: str = setting("", "Text before that of each entry; another one makes all vectors again.")
    dimensions: int = setting(0, "Numbers of a vector, if the model can shorten them; 0: all.", AtLeast(0))
    timeout: Seconds = setting(0.1, "Time that a search waits for the vector of its query.", above_zero)
    batch: int = setting(16, "Entries in a request, at most 128.", AtLeast(1))
