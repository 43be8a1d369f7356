"""Classes of immutable values."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from attrs import define

if TYPE_CHECKING:
    from attrs import frozen as value
else:
    # An assignment is an error of the type checker only. The check at run time triples the time to create an object.
    value = partial(define, unsafe_hash=True)

__all__ = ["value"]
