"""Tables of the folder `data`, which are read once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.resources import files
from threading import Lock
from typing import Any, Generic, TypeVar

import numpy as np
from attrs import define, field
from numpy.typing import NDArray

T = TypeVar("T")

Texts = NDArray[np.bytes_]
"""Texts in UTF-8, ordered by their bytes."""

_FOLDER = files("directory_server.search").joinpath("data")


@define(eq=False)
class Lazy(Generic[T]):
    """A function without arguments that calls `compute` at its first call, and returns that value at every call.

    Other threads wait for the first call. With functools.cache each of them would call `compute`.
    """

    _compute: Callable[[], T]
    _lock: Lock = field(factory=Lock, init=False)
    _computed: list[T] = field(factory=list, init=False)

    @property
    def is_computed(self) -> bool:
        """Return whether a call returns at once."""
        return bool(self._computed)

    def __call__(self) -> T:
        if not self._computed:
            with self._lock:
                if not self._computed:
                    self._computed.append(self._compute())
        return self._computed[0]


def read_table(name: str) -> str:
    """Return the text of a file of the folder."""
    return _FOLDER.joinpath(name).read_text("utf-8")


def read_arrays(name: str) -> Mapping[str, NDArray[Any]]:
    """Return the arrays of a file of the folder in the format of NumPy."""
    with _FOLDER.joinpath(name).open("rb") as file, np.load(file, allow_pickle=False) as arrays:
        return dict(arrays)
