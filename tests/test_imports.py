"""Rules of imports beside the layers: private modules, the packages of a library, the reactor, the plugin."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from .modules import BENCH, MODULES, OURS, PROJECT, Module, Rule, breaks, is_broken, read_module
from .test_layers import COMPOSERS

pytestmark = pytest.mark.slow

ONLY_IN = {
    "argon2": {"services.passwords"},
    "cattrs": {"serialization", "config"},
    "click": {"cli", "command_line", "feature", "features"},
    "cryptography": {"tables.sealing", "features.operators", "features.publishing"},
    "httptools": {"http"},
    "joserfc": {"issuers"},
    "json": {"serialization"},
    "klein": {"web"},
    "markdown_it": {"web.pages"},
    "nh3": {"web.pages"},
    "prometheus_client": {"features", "web.metrics"},
    "opentelemetry": {"features"},
    "psycopg": {"postgres"},
    "orjson": {"serialization", "search.index"},
    "sqlite3": {"sqlite"},
    "numpy": {"features", "search"},
    "packaging": {"features"},
    "confusable_homoglyphs": {"features"},
    "rapidfuzz": {"search"},
    "time": {*COMPOSERS, "cli", "runtime.machine"},
    "twisted.application.internet.TimerService": set(),
    "twisted.internet.reactor": {"runtime.main_reactor"},
    # It ends at the first error.
    "twisted.internet.task.LoopingCall": {"runtime.timers"},
    "treq": {"mirror"},
    "twisted.web": {"features", "http_client", "mirror", "http", "streams", "web"},
    "werkzeug": {"features", "web"},
}
"""Libraries, and the only packages that may import them."""

OF_WEB = {f"{OURS}.feature.{name}" for name in ("parts", "request_pages", "resource_pages")}
"""Modules for the web parts of features."""

INSTALLS_REACTOR = ("twisted.internet.reactor", f"{OURS}.web", f"{OURS}.composition", "klein")
"""Modules that install a reactor when they are imported."""


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


def is_inside_a_feature(name: str) -> bool:
    """Return whether `name` is a module in the folder of a feature, which the package of the feature imports late."""
    return name.split(".")[1:2] == ["features"] and len(name.split(".")) > 3


def nothing_installs_a_reactor_when_imported(module: Module) -> Iterator[str]:
    of_web = module.name.split(".")[1:2] in (["composition"], ["web"]) or module.name in OF_WEB
    if of_web or is_inside_a_feature(module.name):
        return
    for statement in module.tree.body:
        runs = not isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        if runs and not (isinstance(statement, ast.If) and ast.unparse(statement.test) == "TYPE_CHECKING"):
            for name in module.imports(statement):
                if any(f"{name}.".startswith(f"{each}.") for each in INSTALLS_REACTOR):
                    yield f"{name} is imported only inside functions"


RULES: list[Rule] = [
    private_modules_stay_private,
    libraries_stay_in_their_package,
    nothing_installs_a_reactor_when_imported,
]

BROKEN: list[tuple[Rule, str, str]] = [
    (private_modules_stay_private, "web.rest", "from ..serialization._json import decode"),
    (private_modules_stay_private, "web.authentication", "from .mcp._errors import RpcError"),
    (libraries_stay_in_their_package, "services.directory", "from klein import Klein"),
    (libraries_stay_in_their_package, "web.rest", "import sqlite3"),
    (libraries_stay_in_their_package, "cli._quickstart", "from json import dumps"),
    (libraries_stay_in_their_package, "services.feed", "def late():\n    from twisted.internet import reactor"),
    (libraries_stay_in_their_package, "web.access_log", "from twisted.internet.task import LoopingCall"),
    (nothing_installs_a_reactor_when_imported, "tap", "from twisted.internet import reactor"),
    (nothing_installs_a_reactor_when_imported, "tap._service", "from ..composition import build"),
    (nothing_installs_a_reactor_when_imported, "tap", "if True:\n    from .web import authentication"),
]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_the_package_keeps_the_rule(rule: Rule) -> None:
    assert breaks(MODULES, rule) == []


@pytest.mark.parametrize(("rule", "name", "text"), BROKEN)
def test_each_rule_can_be_broken(rule: Rule, name: str, text: str) -> None:
    assert is_broken(rule, name, text)


def test_the_plugin_imports_nothing_of_ours() -> None:
    plugin = PROJECT / "twisted" / "plugins" / "directory_server_plugin.py"
    if not plugin.is_file():
        pytest.skip("this is not a checkout")
    module = read_module(plugin)
    assert [name for name in module.imports(module.tree) if name.startswith(OURS)] == []
