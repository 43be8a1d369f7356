"""Layering: compare the imports of the package with the layers of docs/architecture.md. Imports only go down.

Other rules of imports: `tests/test_imports.py`. The benchmarks in `bench/` have layers of their own:
`tests/bench/test_layers.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter

import pytest

from .modules import MODULES, OURS, Module, breaks, is_broken

COMPOSERS = {"command_line", "composition", "storage", "tap"}
"""Modules that create and connect all others, and may import them all."""

FEATURES = "features"
"""The layer of the features. They may import the kernel, which is all other layers; the kernel names no feature."""

KNOW_FEATURES = {"composition._features", "command_line", "tap"}
"""Modules that read the list of all features."""

DOMAIN = {"client_config", "domain", "domain.errors", "texts.wording"}
_PORTS = DOMAIN | {"domain.ports"}
_INDEX = {"search.index", "search.index.arrays", "search.tables", "search.text"}
_SERVICES = _PORTS | {"serialization", "services", "tables", "http", "streams", "texts.hosts", "texts.sanitize"}
_WEB = _SERVICES | {
    "web.access_log",
    "web.throttling",
    "web.responses",
    "web.error_responses",
    "web.forms",
    "web.routes",
}

MAY_IMPORT: dict[str, set[str]] = {
    "__init__": set(),
    "runtime": set(),
    "texts": set(),
    "texts.sanitize": set(),
    "text_marks": {"texts.sanitize"},
    "texts.wording": set(),
    "runtime.files": set(),
    "texts.hosts": set(),
    "client_config": {"texts.sanitize", "texts.hosts"},
    "domain": {"domain.errors", "client_config", "texts.sanitize", "texts.hosts", "texts.wording", "text_marks"},
    "domain.errors": {"domain", "texts.wording"},
    "domain.ports": {"domain", "domain.errors"},
    "serialization": DOMAIN,
    "services": _PORTS | {"serialization", "tables", "runtime.run_sync", "runtime.timers"},
    "search.text": {"texts.sanitize"},
    "search.index.arrays": set(),
    "search.tables": {"domain", "texts.sanitize", "search.text", "search.index.arrays"},
    "search.index": {"domain", "search.index.arrays", "search.tables", "search.text", "serialization", "text_marks"},
    "search.query": {"domain", *_INDEX},
    "search.ranking": {"domain", "search.query", *_INDEX},
    "search": _PORTS | {"serialization", "search.ranking", "search.query", *_INDEX},
    "runtime.run_sync": set(),
    "runtime.threads": {"domain.ports", "domain.errors"},
    "runtime.process": set(),
    "runtime.turn": {"domain.ports"},
    "runtime.timers": {"domain.errors", "domain.ports"},
    "runtime.machine": {"domain.ports"},
    "runtime.fair_queue": {"domain.errors"},
    "services.passwords": _PORTS | {"runtime.fair_queue", "runtime.threads"},
    "tables": _PORTS | {"serialization"},
    "upgrades": set(),
    "sqlite": _PORTS
    | {"tables", "upgrades"}
    | {"serialization", "runtime.files", "runtime.run_sync", "runtime.threads", "runtime.timers", "runtime.turn"},
    "postgres": _PORTS
    | {"tables", "upgrades", "serialization", "runtime.run_sync", "runtime.threads", "runtime.timers", "runtime.turn"},
    "importer": _PORTS | {"serialization", "runtime.files"},
    "http_client": {"domain.errors", "domain.ports", "texts.hosts", "__init__"},
    "issuers": {"domain.errors", "domain.ports", "http_client", "serialization", "texts.hosts"},
    "mirror": _PORTS
    | {"tables", "serialization", "importer", "http_client"}
    | {"runtime.files", "texts.wording", "services", "__init__"},
    "http": {"runtime.timers", "texts.wording"},
    "streams": {"domain.ports", "domain.errors", "http", "runtime.timers", "texts.wording"},
    "web": set(),
    "web.access_log": {"domain.ports", "domain.errors", "serialization"},
    "web.responses": {"serialization", "http"},
    "web.throttling": {"domain", "http"},
    "web.forms": {"domain.errors", "http"},
    "web.error_responses": {"domain.errors", "http", "serialization", "web.responses"},
    "web.origins": {"domain.errors", "http"},
    "web.access_file": {"domain.errors", "web.access_log", "texts.wording"},
    "web.health": _WEB | {"__init__"},
    "web.key_uses": _WEB | {"texts.sanitize"},
    "web.authentication": _WEB | {"web.key_uses", "runtime.fair_queue"},
    "web.routes": {"domain.ports", "http", "web.access_log", "web.error_responses"},
    "web.audit": _WEB,
    "web.rest": _WEB | {"web.authentication"},
    "web.changes": _WEB | {"web.authentication"},
    "web.registry": _WEB | {"web.authentication", "__init__"},
    "web.mcp": _WEB | {"web.authentication", "__init__"},
    "web.metrics": _WEB,
    "web.pages": _WEB | {"runtime.threads"},
    "web.account": _WEB | {"web.audit", "web.mcp", "web.pages", "web.key_uses"},
    "web.operator_requests": _WEB | {"web.account"},
    "resource": {"config", "domain", "domain.errors", "domain.ports", "tables"},
    "request_resource": {"domain", "resource", "tables"},
    "web.openapi": _WEB | {"web.rest", "web.changes", "web.health", "web.registry", "__init__"},
    "web.routing": _WEB | {"web.audit", "web.pages"},
    "web.site": _WEB | {"web.routing", "web.origins"},
    "runtime.main_reactor": set(),
    "feature.server": {
        *("config", "domain.ports", "http", "services", "tables"),
        *("web.authentication", "web.operator_requests", "web.pages", "web.registry", "web.throttling"),
    },
    "feature.parts": {"domain", "domain.ports", "feature.server", "web.openapi", "web.pages", "web.routes"},
    "feature.resource_pages": _WEB
    | {"feature.parts", "feature.server", "resource"}
    | {"web.account", "web.audit", "web.operator_requests", "web.pages", "web.routes"},
    "feature.request_pages": {
        *("domain", "domain.errors", "feature.parts", "feature.resource_pages", "feature.server", "http"),
        *("request_resource", "resource"),
        *("tables", "web.account", "web.pages", "web.routes"),
    },
    "feature": {"config", "domain.ports", "feature.server", "tables"},
    "config": {"runtime.files"},
    "sample": set(),
    "cli": _SERVICES
    | {"config", "importer", "runtime.main_reactor", "mirror"}
    | {"resource", "runtime.run_sync", "sample", "search"}
    | {"storage", "__init__", "runtime.timers", "services", "texts.wording"},
}
"""Each layer, and the layers that it may import. The longest name that a module's name begins with is its layer."""

MAX_LEVELS = 11
"""Packages of the longest chain in which each imports the next."""

UPWARDS = [
    ("domain.entries", "from .ports.storage import Store"),
    ("tables._accounts", "from ..services.accounts import AccountService"),
    ("services.directory", "from ..web.authentication import Authenticator"),
    ("search.query.plan", "from ... import serialization"),
    ("web.rest", "import directory_server.sqlite"),
    ("web.rest", "from .mcp import McpEndpoint"),
    ("web.rest", "from .. import tap"),
    ("serialization._rpc", "def late():\n    from ..domain.ports.storage import Store"),
]
"""Imports that go up: a module, and its text."""


def layer_of(name: str) -> str | None:
    """Return the longest name in MAY_IMPORT or COMPOSERS that the dotted `name` begins with; None for other names."""
    if name == OURS or name.startswith(f"{OURS}.__"):
        return "__init__"
    parts = name.split(".")[1:] if name.startswith(f"{OURS}.") else []
    for length in range(len(parts), 0, -1):
        if (found := ".".join(parts[:length])) in MAY_IMPORT or found in COMPOSERS or found == FEATURES:
            return found
    return None


def imports_only_go_down(module: Module) -> Iterator[str]:
    layer = layer_of(module.name)
    if layer is None or layer in COMPOSERS or layer == FEATURES:
        return
    for name in module.imports(module.tree):
        imported = layer_of(name)
        if imported not in (None, layer, *MAY_IMPORT[layer]):
            yield f"{layer} imports {name}"


def features_import_the_kernel_only(module: Module) -> Iterator[str]:
    feature = module.name.split(".")[2] if module.name.startswith(f"{OURS}.{FEATURES}.") else ""
    for name in module.imports(module.tree):
        parts = name.split(".")
        if name.startswith(f"{OURS}.{FEATURES}"):
            knows = module.name == f"{OURS}.{FEATURES}" or module.name.removeprefix(f"{OURS}.") in KNOW_FEATURES
            if not knows and parts[2:3] != [feature]:
                yield f"{module.name} imports {name}"
        elif feature and layer_of(name) in {"command_line", "composition", "tap"}:
            yield f"{module.name} imports {name}"


def test_every_module_has_a_layer() -> None:
    assert [each.name for each in MODULES if layer_of(each.name) is None] == []
    assert {layer_of(each.name) for each in MODULES} == {*MAY_IMPORT, *COMPOSERS, FEATURES}


def test_imports_only_go_down() -> None:
    assert breaks(MODULES, imports_only_go_down) == []


@pytest.mark.parametrize(("name", "text"), UPWARDS)
def test_an_import_that_goes_up_is_found(name: str, text: str) -> None:
    assert is_broken(imports_only_go_down, name, text)


def test_features_import_the_kernel_only() -> None:
    assert breaks(MODULES, features_import_the_kernel_only) == []


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("features.reports.web", "from ..usage import FEATURE"),
        ("features.reports.web", "from .. import FEATURES"),
        ("features.reports.web", "from ...composition import build"),
        ("web.rest", "from ..features import FEATURES"),
        ("composition._web", "from ..features.reports.web import PART"),
    ],
)
def test_an_import_of_a_feature_is_found(name: str, text: str) -> None:
    assert is_broken(features_import_the_kernel_only, name, text)


def cycles(graph: Mapping[str, set[str]]) -> list[list[str]]:
    """Return the groups of modules of `graph` that import each other, directly or through others."""
    try:
        tuple(TopologicalSorter(graph).static_order())
    except CycleError as error:
        return [error.args[1]]
    return []


def import_graph() -> dict[str, set[str]]:
    """Return the modules that each module imports, imports for type checkers included."""
    names = {each.name for each in MODULES}
    graph: dict[str, set[str]] = {}
    for each in MODULES:
        imported = set()
        for name in each.imports(each.tree):
            while name and name not in names:
                name = name.rpartition(".")[0]
            imported.add(name)
        graph[each.name] = imported - {each.name, OURS, ""}
    return graph


def test_no_modules_import_each_other() -> None:
    graph = import_graph()
    assert cycles(graph) == []


def package_graph() -> dict[str, set[str]]:
    """Return the packages and root modules that each of them imports."""
    graph: dict[str, set[str]] = {}
    for name, imported in import_graph().items():
        package, *_ = name.removeprefix(f"{OURS}.").split(".")
        graph.setdefault(package, set()).update(other.split(".")[1] for other in imported if "." in other)
        graph[package].discard(package)
    return graph


def test_no_packages_import_each_other() -> None:
    assert cycles(package_graph()) == []


def test_packages_have_few_levels() -> None:
    graph, levels = package_graph(), dict[str, int]()
    for package in TopologicalSorter(graph).static_order():
        levels[package] = 1 + max((levels[imported] for imported in graph[package]), default=0)
    assert max(levels.values()) <= MAX_LEVELS, levels


def test_a_cycle_is_found() -> None:
    assert cycles({"a": {"b"}, "b": {"c"}, "c": {"a"}})
