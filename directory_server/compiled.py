"""The compiled modules. Each has an equal in Python, for installations without a C compiler."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType, ModuleType

_used: dict[str, bool] = {}


def compiled(name: str, version: int = 1) -> ModuleType | None:
    """Return the compiled module `name` of this package; None if there was no C compiler when it was installed.

    In an editable installation it may be of another `version` than this code: then the result is None, too.
    """
    try:
        module = import_module(f".{name}", __package__)
    except ImportError:
        module = None
    usable = module if getattr(module, "VERSION", 1) == version else None
    _used[name] = usable is not None
    return usable


def compiled_modules() -> Mapping[str, bool]:
    """Return for each compiled module that this process has asked for whether it is used, by name."""
    return MappingProxyType(_used)
