"""A small catalogue of well-known servers, to try the directory with.

Names, packages, versions and addresses are the publishers' own, as of 2026-11-22 in npm and PyPI. The descriptions were
written for this catalogue.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path


def path() -> Path:
    """Return the file: JSON as a list page of the official registry's API, `{"servers": […], "metadata": {…}}`."""
    return Path(str(files(__name__) / "servers.json"))
