"""A small catalogue of well-known servers, to try the directory with.

Names, places and versions are the publishers' own (0.0.0 stands for a version that is not known); the descriptions
were written for this catalogue.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

SOURCE = "sample"
"""The source of its entries. The operator's own entries and those of upstreams take precedence."""


def path() -> Path:
    """Return the file: JSON as a list page of the official registry's API, `{"servers": […], "metadata": {…}}`."""
    return Path(str(files(__name__) / "servers.json"))
