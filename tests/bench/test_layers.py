"""Layering of the benchmarks: their imports only go down."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ..modules import BENCH, PROJECT, Module, Rule, breaks, read_module
from ..test_code_rules import files_are_short
from ..test_imports import private_modules_stay_private
from ..test_layers import DOMAIN, layer_of

BENCH_MAY_IMPORT: dict[str, set[str] | None] = {
    "bench.measurement": set(),
    "bench.engines": {
        *("domain", "domain.ports", "features", "runtime.run_sync", "serialization"),
        *("search", "search.index", "search.query", "search.ranking"),
    },
    "bench.catalogue": DOMAIN | {"sample", "search.index", "serialization"},
    "bench.clients": {"bench.measurement"},
    "bench.servers.peers": set(),
    "bench.servers": None,
    "bench.reports": {"bench.measurement", "bench.clients"},
    "bench": None,
}
"""Each layer of the benchmarks, and the layers that it may import; None for all layers of the package.

The layer `bench` has the commands. They may also import all other layers of the benchmarks, but not each other.
"""

_BENCH_LIBRARIES = {"bench.measurement", "bench.catalogue", "bench.clients"}
"""The layers of the benchmarks that the servers may import."""

BENCH_MODULES = [read_module(path) for path in sorted((PROJECT / BENCH).rglob("*.py"))]
"""Empty if this is not a checkout."""


def bench_layer_of(name: str) -> str | None:
    """Return the longest name in BENCH_MAY_IMPORT that the dotted `name` begins with; None for other names."""
    return max((each for each in BENCH_MAY_IMPORT if f"{name}.".startswith(f"{each}.")), key=len, default=None)


def bench_imports_only_go_down(module: Module) -> Iterator[str]:
    layer = bench_layer_of(module.name)
    assert layer is not None
    allowed = BENCH_MAY_IMPORT[layer]
    for name in module.imports(module.tree):
        imported = bench_layer_of(name)
        if imported is None:
            if allowed is not None and (ours := layer_of(name)) is not None and ours not in allowed:
                yield f"{layer} imports {name}"
        elif layer == BENCH:
            # A command is a module of the package `bench`; `name` ends with the name of a layer or of something in it.
            if imported == BENCH and name != BENCH:
                yield f"{module.name} imports {name}"
        elif imported != layer and imported not in (allowed if allowed is not None else _BENCH_LIBRARIES):
            yield f"{layer} imports {name}"


BENCH_RULES: list[Rule] = [
    bench_imports_only_go_down,
    private_modules_stay_private,
    files_are_short,
]

BENCH_BROKEN: list[tuple[Rule, str, str]] = [
    (bench_imports_only_go_down, "bench.http", "from .search import build"),
    (bench_imports_only_go_down, "bench.http", "from . import search"),
    (bench_imports_only_go_down, "bench.measurement.process_stats", "from ..servers.launch import Running"),
    (bench_imports_only_go_down, "bench.measurement.process_stats", "from directory_server import sqlite"),
    (bench_imports_only_go_down, "bench.clients.http_load", "from directory_server.domain.entries import Entry"),
    (bench_imports_only_go_down, "bench.reports.http_report", "from ..http import main"),
    (bench_imports_only_go_down, "bench.servers.launch", "from ..reports.http_report import Row"),
    (private_modules_stay_private, "bench.servers.launch", "from directory_server.sqlite._store import sqlite_store"),
    (private_modules_stay_private, "bench.http", "from .servers._launch import launch"),
    (files_are_short, "bench.http", "\n" * 301),
]


@pytest.mark.parametrize("rule", BENCH_RULES, ids=lambda rule: rule.__name__)
def test_the_benchmarks_keep_the_rule(rule: Rule) -> None:
    if not BENCH_MODULES:
        pytest.skip("this is not a checkout")
    assert breaks(BENCH_MODULES, rule) == []
    assert {bench_layer_of(each.name) for each in BENCH_MODULES} == set(BENCH_MAY_IMPORT)


@pytest.mark.parametrize(("rule", "name", "text"), BENCH_BROKEN)
def test_each_rule_of_the_benchmarks_can_be_broken(rule: Rule, name: str, text: str) -> None:
    assert list(rule(Module(name, text)))
