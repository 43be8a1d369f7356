"""The statements of all modules, for tests of query plans."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Collection, Iterator, Mapping
from types import ModuleType

from directory_server import tables
from directory_server.features import publishing, quota_requests, reports, statistics, verification

COMMON = {
    "verification._ALL_CHECKED": "forgets all checks, in the command `verify --forget`",
    "verification._CHECKED": "is a part of statements with a condition",
    "_listing._NEWEST": "ends at its limit, in the order of an index",
    "_entries._COUNT": "reads the last row",
    "_entries._HEAD": "reads the last row",
    "_locking._LAST": "reads the last row",
    "_listing._ROWS": "are parts of statements with a limit",
    "_curation._NAME": "is a part of statements with a condition",
    "_account_rows._ACCOUNT": "is a part of statements with a condition",
    "_accounts._ACCOUNT": "is a part of statements with a condition",
    "_accounts._ALL": "lists all accounts, in tests",
    "_accounts._PENDING": "reads pending accounts only, in an index",
    "_key_uses._LIST": "lists all uses, in tests",
    "_keyring._KEY": "is a part of statements with a condition",
    "_keyring._LIST": "lists all keys, in tests",
    "_roster._ACCOUNT": "is a part of statements with a condition",
    "_roster._COUNTS": "ends at its limits",
    "_roster._KEY": "is a part of statements with a condition",
    "_roster._KEYS": "looks for a text in all addresses, in a thread",
    "_roster._TOTAL_ACCOUNTS": "counts all accounts, in the command `status`",
    "_roster._TOTAL_KEYS": "counts all keys, in the command `status`",
}
"""Statements that may read a large table of both databases, and why."""


def statements(engine: ModuleType) -> Iterator[tuple[str, str]]:
    """Yield the names and texts of the statements of the package `engine`, the tables and features."""
    packages = (engine, tables, publishing, quota_requests, reports, statistics, verification)
    modules = [(package.__name__, each.name) for package in packages for each in pkgutil.iter_modules(package.__path__)]
    for package, module in modules:
        place = package.rpartition(".")[2] if module == "tables" else module
        for name, value in vars(importlib.import_module(f"{package}.{module}")).items():
            texts = value if isinstance(value, Mapping) else {"": value}
            if isinstance(value, tuple):
                texts = dict(enumerate(value))
            for key, text in texts.items():
                if isinstance(text, str) and re.match(r"\s*(WITH|SELECT|INSERT|UPDATE|DELETE)\b[^{]*$", text):
                    yield f"{place}.{name}" + (f"[{key}]" if key != "" else ""), text


def exception(name: str, whole: Collection[str]) -> str | None:
    """Return the name in `whole` of a statement, None for those that must not read a large table."""
    module, _, rest = name.partition(".")
    return next((known for known in (name, f"{module}.{rest.partition('[')[0]}", module) if known in whole), None)
