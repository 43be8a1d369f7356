"""Embeddings in a server: off by default, and the key of the endpoint."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from attrs import evolve
from prometheus_client import CollectorRegistry
from twisted.internet.task import Clock

from directory_server.config import Config, ConfigError
from directory_server.domain.ports.search import LIKENESS
from directory_server.feature.server import SERVICES, Server
from directory_server.features.embeddings import FEATURE
from directory_server.features.embeddings.settings import EmbeddingsConfig
from directory_server.runtime.run_sync import inline

URL = "http://127.0.0.1:1/v1/embeddings"


def run(**settings: Any) -> Server:
    """Return a server with `settings` in which the feature is registered."""
    config = evolve(Config(), features={FEATURE.name: EmbeddingsConfig(**settings)})
    server = Server(
        config=config,
        storage=Mock(),  # It is not used before the services start.
        reactor=Clock(),
        now=lambda: 0.0,
        offload=inline,
        bus=Mock(),
        metrics=CollectorRegistry(),
        replaced={},
    )
    FEATURE.register(server)
    return server


def test_nothing_runs_without_a_url() -> None:
    assert run(model="m").all(SERVICES) == []


def test_nothing_is_imported_without_a_url() -> None:
    program = (
        "import sys; from directory_server import features; from directory_server.features.embeddings import FEATURE; "
        "print([name for name in sys.modules if name.startswith('directory_server.features.embeddings.')])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_url_adds_a_likeness_and_services() -> None:
    server = run(url=URL)
    assert server.get(LIKENESS) is not None
    assert len(server.all(SERVICES)) == 3


def test_the_key_is_read_from_its_file(tmp_path: Path) -> None:
    path = tmp_path / "key"
    path.write_text("secret\n")
    assert run(url=URL, key_file=str(path)).get(LIKENESS) is not None


@pytest.mark.parametrize("content", [None, b"", b" \n", b"secret\nsecond line", b"secret\xff", "sécret".encode()])
def test_a_file_without_a_key_is_an_error_that_does_not_show_it(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "key"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ConfigError, match=r"embeddings\.key_file") as caught:
        run(url=URL, key_file=str(path))
    assert "ecret" not in str(caught.value)
