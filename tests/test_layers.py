"""Layering: compare the imports of the package with the layers of docs/architecture.md. Imports only go down.

The benchmarks in `bench/` have layers of their own: `tests/bench/test_layers.py`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest
from attrs import frozen

import directory_server

OURS = "directory_server"
PACKAGE = Path(directory_server.__file__).parent
PROJECT = PACKAGE.parent
BENCH = "bench"

MAX_LINES = 300

COMPOSERS = {"app", "composition", "storage", "tap", "cli"}
"""Modules that create and connect all others, and may import them all."""

DOMAIN = {"client_config", "domain", "domain.errors", "values", "wording"}
_PORTS = DOMAIN | {"domain.ports"}
_SERVICES = _PORTS | {"serialization", "services", "http", "streams", "hosts", "sanitize"}
_WEB = _SERVICES | {
    "web.access_log",
    "web.throttling",
    "web.responses",
    "web.compression",
    "web.error_responses",
    "web.forms",
}

MAY_IMPORT: dict[str, set[str]] = {
    "__init__": set(),
    "sanitize": set(),
    "wording": set(),
    "files": set(),
    "hosts": set(),
    "compiled": set(),
    "values": set(),
    "client_config": {"sanitize", "hosts"},
    "domain": {"domain.errors", "client_config", "sanitize", "hosts", "values", "wording"},
    "domain.errors": {"domain", "wording"},
    "domain.ports": {"domain", "domain.errors"},
    "serialization": DOMAIN | {"compiled"},
    "services": _PORTS,
    "search.text": set(),
    "search.index": {"domain", "compiled", "search.text", "serialization"},
    "search.query": {"domain", "search.index", "search.text"},
    "search.ranking": {"domain", "search.query", "search.index", "search.text"},
    "search": _PORTS | {"serialization", "search.ranking", "search.query", "search.index", "search.text"},
    "run_sync": set(),
    "threads": {"domain.ports", "domain.errors"},
    "process": set(),
    "supervisor": set(),
    "workers": {"config", "supervisor"},
    "running": {"domain.errors", "serialization"},
    "turn": {"domain.ports"},
    "resumption": set(),
    "listeners": set(),
    "sealing": set(),
    "machine": {"domain.ports"},
    "passwords": _PORTS,
    "sqlite": _PORTS | {"serialization", "files", "run_sync", "listeners", "sealing", "threads", "turn", "resumption"},
    "postgres": _PORTS | {"serialization", "run_sync", "listeners", "sealing", "turn"},
    "memory": _PORTS | {"serialization", "listeners"},
    "importer": _PORTS | {"serialization", "files"},
    "http_client": {"domain.errors"},
    "mirror": _PORTS | {"serialization", "importer", "http_client", "files", "__init__"},
    "verification": _PORTS | {"serialization", "http_client", "hosts", "sanitize", "__init__"},
    "http": {"compiled", "wording"},
    "streams": {"domain.ports", "domain.errors", "http", "wording"},
    "web": set(),
    "web.access_log": {"domain.ports", "domain.errors", "serialization"},
    "web.responses": {"serialization", "http"},
    "web.throttling": {"domain", "http"},
    "web.forms": {"domain.errors", "http"},
    "web.error_responses": {"domain.errors", "http", "serialization", "web.responses"},
    "web.origins": {"domain.errors", "http"},
    "web.compression": {"http"},
    "web.access_file": {"domain.errors", "web.access_log", "wording"},
    "web.health": _WEB | {"__init__"},
    "web.user_agents": {"domain", "sanitize"},
    "web.key_uses": _WEB | {"web.user_agents"},
    "web.statistics": _WEB,
    "web.authentication": _WEB | {"web.key_uses"},
    "web.routes": {"web.access_log"},
    "web.rest": _WEB | {"web.authentication"},
    "web.changes": _WEB | {"web.authentication"},
    "web.registry": _WEB | {"web.authentication"},
    "web.publish": _WEB | {"web.authentication", "web.registry"},
    "web.mcp": _WEB | {"web.authentication", "__init__"},
    "web.metrics": _WEB | {"compiled"},
    "web.pages": _WEB,
    "web.account": _WEB | {"web.mcp", "web.pages", "web.user_agents"},
    "web.admin": _WEB | {"web.account", "web.pages", "__init__"},
    "web.docs": _WEB | {"web.openapi", "web.pages"},
    "web.openapi": _WEB | {"web.rest", "web.changes", "web.health", "web.registry", "__init__"},
    "web.routing": _WEB
    | {"web.rest", "web.changes", "web.registry", "web.mcp", "web.pages", "web.account", "web.openapi", "web.docs"}
    | {"web.admin", "web.publish"}
    | {"web.routes", "web.health", "__init__"},
    "web.site": _WEB | {"web.routing", "web.origins", "web.routes", "resumption"},
    "config": {"files"},
    "sample": set(),
}
"""Each layer, and the layers that it may import. The longest name that a module's name begins with is its layer."""

ONLY_IN = {
    "argon2": {"passwords"},
    "cattrs": {"serialization", "config"},
    "click": {"cli"},
    "cryptography": {"sealing"},
    "httptools": {"http"},
    "json": {"serialization"},
    "klein": {"web"},
    "markdown_it": {"web.pages"},
    "nh3": {"web.pages"},
    "prometheus_client": {"web.metrics"},
    "psycopg": {"postgres"},
    "orjson": {"serialization", "search.index"},
    "sqlite3": {"sqlite"},
    "numpy": {"search"},
    "rapidfuzz": {"search"},
    "time": {*COMPOSERS, "machine", "supervisor", "workers"},
    "twisted.internet.reactor": {"tap"},
    "treq": {"mirror"},
    "twisted.web": {"http_client", "mirror", "verification", "http", "streams", "web"},
    "werkzeug": {"web"},
}
"""Libraries, and the only packages that may import them."""

INSTALLS_REACTOR = ("twisted.internet.reactor", f"{OURS}.web", f"{OURS}.composition", "klein")
"""Modules that install a reactor when they are imported."""

REPLACED_NAMES = {"inlineCallbacks", "returnValue"}
"""Names that `async def` replaces."""

NOW = {("datetime", "now"), ("datetime", "utcnow"), ("datetime", "today"), ("date", "today")}


@frozen
class Module:
    """A module of the package: dotted name and source text."""

    name: str
    text: str
    is_package: bool = False

    @property
    def layer(self) -> str:
        """The layer of the module."""
        return layer_of(self.name) or "?"

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)

    def imports(self, node: ast.AST) -> Iterator[str]:
        """Yield the absolute names of all that is imported at or below `node`."""
        for each in ast.walk(node):
            if isinstance(each, ast.Import):
                yield from (alias.name for alias in each.names)
            elif isinstance(each, ast.ImportFrom):
                origin = ".".join(filter(None, (self._parent(each.level), each.module)))
                yield from (f"{origin}.{alias.name}" for alias in each.names)

    def _parent(self, level: int) -> str:
        parts = self.name.split(".")
        return ".".join(parts[: len(parts) - level + self.is_package]) if level else ""


def layer_of(name: str) -> str | None:
    """Return the longest name in MAY_IMPORT or COMPOSERS that the dotted `name` begins with; None for other names."""
    if name == OURS or name.startswith(f"{OURS}.__"):
        return "__init__"
    parts = name.split(".")[1:] if name.startswith(f"{OURS}.") else []
    for length in range(len(parts), 0, -1):
        if (found := ".".join(parts[:length])) in MAY_IMPORT or found in COMPOSERS:
            return found
    return None


def module(path: Path) -> Module:
    parts = path.relative_to(PROJECT).with_suffix("").parts
    is_package = parts[-1] == "__init__"
    return Module(".".join(parts[:-1] if is_package else parts), path.read_text("utf-8"), is_package)


MODULES = [module(path) for path in sorted(PACKAGE.rglob("*.py"))]


def imports_only_go_down(module: Module) -> Iterator[str]:
    for name in module.imports(module.tree):
        imported = layer_of(name)
        if imported is None or imported == module.layer or module.layer in COMPOSERS:
            continue
        if imported not in MAY_IMPORT[module.layer]:
            yield f"{module.layer} imports {name}"


def private_modules_stay_private(module: Module) -> Iterator[str]:
    for name in module.imports(module.tree):
        # The last part may be a name inside a module; __version__ is public.
        for depth, part in enumerate(name.split(".")):
            home = ".".join(name.split(".")[:depth])
            private = part.startswith("_") and not part.startswith("__")
            if name.startswith((f"{OURS}.", f"{BENCH}.")) and private and not f"{module.name}.".startswith(f"{home}."):
                yield f"{name} is private to {home}"


def libraries_stay_in_their_package(module: Module) -> Iterator[str]:
    for name in module.imports(module.tree):
        for library, packages in ONLY_IN.items():
            allowed = any(f"{module.name}.".startswith(f"{OURS}.{package}.") for package in packages)
            if f"{name}.".startswith(f"{library}.") and not allowed:
                yield f"{name} is imported only in {', '.join(sorted(packages))}"


def nothing_installs_a_reactor_when_imported(module: Module) -> Iterator[str]:
    if module.layer == "composition" or module.name.split(".")[1:2] == ["web"]:
        return
    for statement in module.tree.body:
        runs = not isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        if runs and not (isinstance(statement, ast.If) and ast.unparse(statement.test) == "TYPE_CHECKING"):
            for name in module.imports(statement):
                if any(f"{name}.".startswith(f"{each}.") for each in INSTALLS_REACTOR):
                    yield f"{name} is imported only inside functions"


def time_is_an_argument(module: Module) -> Iterator[str]:
    for node in ast.walk(module.tree):
        if (
            isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and (node.value.id, node.attr) in NOW
            and module.layer not in COMPOSERS
        ):
            yield f"{node.value.id}.{node.attr} in line {node.lineno}"


def coroutines_are_async_def(module: Module) -> Iterator[str]:
    for node in ast.walk(module.tree):
        names = {getattr(node, attribute, None) for attribute in ("id", "attr", "name")}
        yield from (f"{name} in line {getattr(node, 'lineno', '?')}" for name in names & REPLACED_NAMES)


def files_are_short(module: Module) -> Iterator[str]:
    lines = len(module.text.splitlines())
    if lines > MAX_LINES:
        yield f"{lines} lines; at most {MAX_LINES} are allowed"


Rule = Callable[[Module], Iterator[str]]

RULES: list[Rule] = [
    imports_only_go_down,
    private_modules_stay_private,
    libraries_stay_in_their_package,
    nothing_installs_a_reactor_when_imported,
    time_is_an_argument,
    coroutines_are_async_def,
    files_are_short,
]

BROKEN: list[tuple[Rule, str, str]] = [
    (imports_only_go_down, "domain.entries", "from .ports.storage import Store"),
    (imports_only_go_down, "services.directory", "from .. import serialization"),
    (imports_only_go_down, "services.directory", "from ..web.authentication import Authenticator"),
    (imports_only_go_down, "search.query.terms", "from ... import serialization"),
    (imports_only_go_down, "search.text.analysis", "from ..index.document import Document"),
    (imports_only_go_down, "search.index.segment", "from ..ranking.scoring import best"),
    (imports_only_go_down, "sqlite._store", "from ..search import ImpactIndex"),
    (imports_only_go_down, "postgres._store", "from ..sqlite import SqliteStore"),
    (imports_only_go_down, "http._connection", "from ..domain.errors import DirectoryError"),
    (imports_only_go_down, "web.rest", "import directory_server.sqlite"),
    (imports_only_go_down, "web.rest", "from .mcp import McpEndpoint"),
    (imports_only_go_down, "web.responses", "from .authentication import Authenticator"),
    (imports_only_go_down, "web.mcp._tools", "from ...sqlite._store import SqliteStore"),
    (imports_only_go_down, "web.rest", "from .. import tap"),
    (imports_only_go_down, "serialization._rpc", "def late():\n    from ..domain.ports.storage import Store"),
    (private_modules_stay_private, "web.rest", "from ..serialization._json import decode"),
    (private_modules_stay_private, "cli.main", "from ..sqlite import _store"),
    (private_modules_stay_private, "web.authentication", "from .mcp._errors import RpcError"),
    (libraries_stay_in_their_package, "services.directory", "from klein import Klein"),
    (libraries_stay_in_their_package, "web.rest", "import sqlite3"),
    (libraries_stay_in_their_package, "composition._core", "import psycopg"),
    (libraries_stay_in_their_package, "web.rest", "import json"),
    (libraries_stay_in_their_package, "cli._quickstart", "from json import dumps"),
    (libraries_stay_in_their_package, "importer._importer", "import orjson"),
    (libraries_stay_in_their_package, "services.feed", "from twisted.web import http"),
    (libraries_stay_in_their_package, "services.feed", "def late():\n    from twisted.internet import reactor"),
    (libraries_stay_in_their_package, "sqlite._keyring", "from time import time"),
    (nothing_installs_a_reactor_when_imported, "tap", "from twisted.internet import reactor"),
    (nothing_installs_a_reactor_when_imported, "tap", "import twisted.internet.reactor"),
    (nothing_installs_a_reactor_when_imported, "app", "from .composition import build"),
    (nothing_installs_a_reactor_when_imported, "tap", "if True:\n    from .web import authentication"),
    (time_is_an_argument, "sqlite._store", "datetime.now()"),
    (coroutines_are_async_def, "services.feed", "from twisted.internet.defer import inlineCallbacks"),
    (coroutines_are_async_def, "services.feed", "@defer.inlineCallbacks\ndef pump(): ..."),
    (files_are_short, "services.feed", "\n" * 301),
]


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


def test_a_cycle_is_found() -> None:
    assert cycles({"a": {"b"}, "b": {"c"}, "c": {"a"}})


def test_every_module_has_a_layer() -> None:
    assert [each.name for each in MODULES if each.layer == "?"] == []
    assert {each.layer for each in MODULES} == {*MAY_IMPORT, *COMPOSERS}


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_the_package_keeps_the_rule(rule: Rule) -> None:
    assert [f"{each.name}: {broken}" for each in MODULES for broken in rule(each)] == []


@pytest.mark.parametrize(("rule", "name", "text"), BROKEN)
def test_each_rule_can_be_broken(rule: Rule, name: str, text: str) -> None:
    assert list(rule(Module(f"{OURS}.{name}", text)))


def test_the_plugin_imports_nothing_of_ours() -> None:
    plugin = PROJECT / "twisted" / "plugins" / "directory_server_plugin.py"
    if not plugin.is_file():
        pytest.skip("this is not a checkout")
    read = Module("twisted.plugins.directory_server_plugin", plugin.read_text("utf-8"))
    assert not [name for name in read.imports(read.tree) if name.startswith(OURS)]
