"""The words and the texts of `data.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from importlib.resources import files

_DATA = tomllib.loads(files(__package__).joinpath("data.toml").read_text("utf-8"))

NOTICES: Mapping[str, Mapping[str, str]] = {table: _DATA[table] for table in ("reason", "warning")}
"""The texts of notices by table and code, as the English pages have them."""


def words(name: str) -> frozenset[str]:
    return frozenset(_DATA["words"][name].split())
