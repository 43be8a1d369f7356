"""Reads the imports of the package and holds them to the Layers of docs/architecture.md: imports only go down."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path

import pytest
from attrs import frozen

import directory_server

OURS = "directory_server"
PACKAGE = Path(directory_server.__file__).parent
PROJECT = PACKAGE.parent

MAX_LINES = 300

COMPOSERS = {"tap", "server", "cli", "commands"}

GROUND = {"model", "errors", "ports"}

BELOW = {
    "__init__": set[str](),
    "sanitize": set[str](),
    "hosts": set[str](),
    "_limits": {"sanitize"},
    "install": {"hosts", "sanitize"},
    "_entry": {"_limits", "install", "sanitize"},
    "model": {"_entry", "install"},
    "errors": {"model"},
    "_people": {"model"},
    "ports": {"model", "errors", "_people"},
    "wire": {"model", "errors"},
    "_page_cache": {"model"},
    "directory": GROUND | {"_page_cache"},
    "feed": GROUND,
    "membership": GROUND,
    "own_keys": GROUND,
    "unused_accounts": GROUND,
    "search": GROUND,
    "embedded": GROUND | {"wire"},
    "importing": GROUND | {"wire"},
    "machine": {"embedded"},
    "mirror": GROUND | {"wire", "importing", "__init__"},
    "web": GROUND | {"hosts", "sanitize", "wire", "directory", "feed", "membership", "own_keys"},
    "config": set[str](),
    "sample": set[str](),
    "endpoints": set[str](),
    "quickstart": {"wire", "endpoints"},
    "process": set[str](),
    "threads": set[str](),
    "systemd": set[str](),
}
"""Each room of the package and the rooms it may import from; those that compose are not here, for they may all."""

HOMES = {
    "argon2": {"embedded"},
    "cattrs": {"wire"},
    "click": {"cli", "commands"},
    "cryptography": {"embedded"},
    "idna": {"hosts"},
    "json": {"wire"},
    "klein": {"web"},
    "regex": {"sanitize"},
    "prometheus_client": {"web"},
    "orjson": {"wire", "search"},
    "sqlite3": {"embedded"},
    "numpy": {"search"},
    "rapidfuzz": {"search"},
    "time": COMPOSERS | {"machine"},
    "twisted.internet.reactor": {"tap"},
    "treq": {"mirror"},
    "twisted.web": {"mirror", "web"},
    "werkzeug": {"web"},
}
"""Libraries, and the rooms that alone may know them."""

INSTALLS_REACTOR = ("twisted.internet.reactor", f"{OURS}.web", "klein")
"""What chooses a reactor as soon as it is imported."""

NO_WORDS = {"inlineCallbacks", "returnValue"}
"""What `async def` has replaced."""

NOW = {("datetime", "now"), ("datetime", "utcnow"), ("datetime", "today"), ("date", "today")}


@frozen
class Module:
    """A module of the package: its dotted name and what is written in it."""

    name: str
    text: str
    is_package: bool = False

    @property
    def room(self) -> str:
        """The part of the package that it belongs to: the first name below `directory_server`."""
        return self.name.split(".")[1] if "." in self.name else "__init__"

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


def module(path: Path) -> Module:
    parts = path.relative_to(PROJECT).with_suffix("").parts
    is_package = parts[-1] == "__init__"
    return Module(".".join(parts[:-1] if is_package else parts), path.read_text("utf-8"), is_package)


MODULES = [module(path) for path in sorted(PACKAGE.rglob("*.py"))]


def imports_only_go_down(module: Module) -> Iterator[str]:
    for name in module.imports(module.tree):
        _, _, inner = name.partition(f"{OURS}.")
        room = inner.split(".")[0]
        known = room in BELOW or room in COMPOSERS
        if known and room != module.room and module.room not in COMPOSERS and room not in BELOW[module.room]:
            yield f"{module.room} imports {name}"


def private_modules_stay_at_home(module: Module) -> Iterator[str]:
    for name in module.imports(module.tree):
        # The last part may be a name inside a module; __version__ is public.
        for depth, part in enumerate(name.split(".")):
            home = ".".join(name.split(".")[:depth])
            private = part.startswith("_") and not part.startswith("__")
            if name.startswith(f"{OURS}.") and private and not f"{module.name}.".startswith(f"{home}."):
                yield f"{name} is private to {home}"


def libraries_stay_at_home(module: Module) -> Iterator[str]:
    for name in module.imports(module.tree):
        for library, homes in HOMES.items():
            if f"{name}.".startswith(f"{library}.") and module.room not in homes:
                yield f"{name} is imported only in {', '.join(sorted(homes))}"


def nothing_installs_a_reactor_when_imported(module: Module) -> Iterator[str]:
    if module.room == "web":
        return
    for statement in module.tree.body:
        if not isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            for name in module.imports(statement):
                if any(f"{name}.".startswith(f"{each}.") for each in INSTALLS_REACTOR):
                    yield f"{name} is imported only inside functions"


def time_is_an_argument(module: Module) -> Iterator[str]:
    for node in ast.walk(module.tree):
        if (
            isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and (node.value.id, node.attr) in NOW
            and module.room not in COMPOSERS
        ):
            yield f"{node.value.id}.{node.attr} in line {node.lineno}"


def coroutines_are_async_def(module: Module) -> Iterator[str]:
    for node in ast.walk(module.tree):
        names = {getattr(node, attribute, None) for attribute in ("id", "attr", "name")}
        yield from (f"{name} in line {getattr(node, 'lineno', '?')}" for name in names & NO_WORDS)


def files_are_short(module: Module) -> Iterator[str]:
    lines = len(module.text.splitlines())
    if lines > MAX_LINES:
        yield f"{lines} lines; {MAX_LINES} are enough"


Rule = Callable[[Module], Iterator[str]]

RULES: list[Rule] = [
    imports_only_go_down,
    private_modules_stay_at_home,
    libraries_stay_at_home,
    nothing_installs_a_reactor_when_imported,
    time_is_an_argument,
    coroutines_are_async_def,
    files_are_short,
]

BROKEN: list[tuple[Rule, str, str]] = [
    (imports_only_go_down, "model", "from .errors import BadInput"),
    (imports_only_go_down, "directory", "from . import wire"),
    (imports_only_go_down, "directory", "from .web.gate import Gate"),
    (imports_only_go_down, "search._index", "from .. import wire"),
    (imports_only_go_down, "embedded._store", "from ..search import ImpactIndex"),
    (imports_only_go_down, "web.rest", "import directory_server.embedded"),
    (imports_only_go_down, "web.mcp._tools", "from ...embedded._store import SqliteStore"),
    (imports_only_go_down, "web.rest", "from .. import tap"),
    (imports_only_go_down, "wire._rpc", "def late():\n    from ..ports import Store"),
    (private_modules_stay_at_home, "web.rest", "from ..wire._json import decode"),
    (private_modules_stay_at_home, "cli", "from .embedded import _store"),
    (private_modules_stay_at_home, "web.gate", "from .mcp._errors import RpcError"),
    (libraries_stay_at_home, "directory", "from klein import Klein"),
    (libraries_stay_at_home, "web.rest", "import sqlite3"),
    (libraries_stay_at_home, "web.rest", "import json"),
    (libraries_stay_at_home, "quickstart", "from json import dumps"),
    (libraries_stay_at_home, "importing._import", "import orjson"),
    (libraries_stay_at_home, "feed", "from twisted.web import http"),
    (libraries_stay_at_home, "feed", "def late():\n    from twisted.internet import reactor"),
    (libraries_stay_at_home, "embedded._keyring", "from time import time"),
    (nothing_installs_a_reactor_when_imported, "tap", "from twisted.internet import reactor"),
    (nothing_installs_a_reactor_when_imported, "tap", "import twisted.internet.reactor"),
    (nothing_installs_a_reactor_when_imported, "tap", "if True:\n    from .web import gate"),
    (time_is_an_argument, "embedded._shown", "datetime.now()"),
    (coroutines_are_async_def, "feed", "from twisted.internet.defer import inlineCallbacks"),
    (coroutines_are_async_def, "feed", "@defer.inlineCallbacks\ndef pump(): ..."),
    (files_are_short, "feed", "\n" * 301),
]


def test_there_is_something_to_read() -> None:
    rooms = {each.room for each in MODULES}
    assert rooms == {*BELOW, *COMPOSERS}, "a new room needs its line in BELOW and in docs/architecture.md"


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
