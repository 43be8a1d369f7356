"""Words and expressions of entries, in the files of `data`: tables whose texts are lists separated by commas."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from importlib.resources import files
from typing import Any


def read_vocabulary(name: str) -> Mapping[str, Any]:
    """Return the tables of the file `data/{name}.toml`."""
    return tomllib.loads(files(__package__).joinpath("data", f"{name}.toml").read_text("utf-8"))


def listed(text: str) -> tuple[str, ...]:
    """Return the items of a list, without white space around them."""
    return tuple(item for part in text.split(",") if (item := part.strip()))
