"""The frozen steps by which releases before 0.3.0 upgraded their databases, one after the other.

They bring each older database to step 0 of all owners of tables (`tables/_schema.py`). New steps belong to an owner.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.resources import files


@cache
def former_steps(*folder: str) -> Sequence[str]:
    """Return the scripts of `folder`, such as "sqlite", "quota". The first one is step 1."""
    scripts = files(__package__).joinpath(*folder).iterdir()
    return [file.read_text("utf-8") for file in sorted(scripts, key=lambda file: file.name)]
