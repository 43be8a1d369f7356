"""Embeddings: the first hits of a search are also ranked by a model of an endpoint that the operator chooses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...feature import Feature
from .settings import EmbeddingsConfig

if TYPE_CHECKING:
    from ...feature import Host, Running


def _run(host: Host) -> Running:
    if not host.config.of(EmbeddingsConfig).url:
        from ...feature import Running

        return Running()
    # The HTTP client takes 3 MB and .1 seconds.
    from .service import running

    return running(host)


FEATURE = Feature("embeddings", settings=EmbeddingsConfig, run=_run)
