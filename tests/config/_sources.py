"""Sources of a configuration, for the tests of settings."""

from __future__ import annotations

from pathlib import Path

import pytest

from directory_server.config import Config, ConfigError, describe, load
from directory_server.features import sections

DEFAULTS = load(file=None, environ={}, settings=[], sections=sections())

NAMES = [setting.name for setting in describe(DEFAULTS)]


def write_toml(folder: Path, toml: str) -> Path:
    file = folder / "directory.toml"
    file.write_text(toml, encoding="utf-8")
    return file


def load_config(*settings: str, file: Path | None = None, **environ: str) -> Config:
    return load(file=file, environ=environ, settings=settings, sections=sections())


def error_message(*settings: str, file: Path | None = None, **environ: str) -> str:
    with pytest.raises(ConfigError) as caught:
        load_config(*settings, file=file, **environ)
    return str(caught.value)


def variable(name: str) -> str:
    return "DIRECTORY_SERVER_" + name.replace(".", "__").upper()
