"""Rule of scopes: handlers for readers get entries within the scope of a request, from a Catalogue.

A handler is a class with a method for a Request. Neither it nor what its fields hold may have all entries, except in
the forms of `is_privileged` and `is_scoped`, and for OF_SCOPES (docs/decisions/0074-scopes-of-readers.md).
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from functools import cached_property

from attrs import frozen

from .modules import MODULES, OURS, Module

ALL_ENTRIES = {"Store", "Directory"}
"""Types that have all entries."""

RECORD = "Server"
"""The record of all parts of a server. What its holders read of it counts, in place of what it has."""

OF_SCOPES = {"Dumps", "NewestEntries", "Policies"}
"""Classes that answer for a scope, or only readers of all entries. What holds one must ask for the scope of requests.
"""

_Function = ast.FunctionDef | ast.AsyncFunctionDef


@frozen
class Class:
    """A class: the package whose classes it sees (web, or one feature), its definition, the types of its fields."""

    package: str
    node: ast.ClassDef
    fields: Set[str]
    parameters: Set[str]
    names: Set[str]
    """Names of what it calls and reads."""

    @property
    def is_privileged(self) -> bool:
        """Whether it is for operators only, or checks who it is for.

        Approvers read the entries that they decide on, members in catalogue mode those that they may request. The token
        of a publisher is checked for each name.
        """
        methods = {node.name for node in self.node.body if isinstance(node, _Function)}
        if self.names & {"decided_by", "requestable"} or "check_permission" in methods:
            return True
        return self.fields & {"OperatorRequests", "Catalogue"} == {"OperatorRequests"}

    @cached_property
    def has_all(self) -> bool:
        """Whether it has all entries. `storage.store` and `server.directory` have them too."""
        return bool(self.fields & ALL_ENTRIES) or any(
            isinstance(node, ast.Attribute) and name_of(node.value).endswith(holder) and node.attr == name
            for node in ast.walk(self.node)
            for holder, name in (("storage", "store"), ("server", "directory"))
        )

    @cached_property
    def is_scoped(self) -> bool:
        """Whether it reads `within` a scope only. Numbers of the log are the same for all readers."""
        read = [node for node in ast.walk(self.node) if name_of(node) in ("_store", "_directory") and is_read(node)]
        scoped = [
            node.value for node in ast.walk(self.node) if isinstance(node, ast.Attribute) and node.attr == "within"
        ]
        for node in ast.walk(self.node):
            if isinstance(node, ast.Call) and name_of(node.func) == "check_position":
                scoped += node.args[:1]
        return bool(read) and all(any(node is each for each in scoped) for node in read)


def name_of(node: ast.AST) -> str:
    """Return the name of a variable or an attribute."""
    return str(getattr(node, "attr", "") or getattr(node, "id", ""))


def is_read(node: ast.AST) -> bool:
    return isinstance(getattr(node, "ctx", None), ast.Load)


def types_in(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Yield the types that annotations at or below `nodes` name, but not what a function gets, or a dict by Scope."""
    for node in nodes:
        for part in ast.walk(node):
            annotation = getattr(part, "annotation", None)
            if annotation is not None:
                named = {name_of(each) for each in ast.walk(annotation)}
                yield from () if named & {"Callable", "Scope"} else named


def class_of(module: Module, node: ast.ClassDef) -> Class:
    methods = [each for each in node.body if isinstance(each, _Function)]
    fields = [each for each in node.body if isinstance(each, ast.AnnAssign)]
    constructors = [method for method in methods if method.name == "__init__"]
    return Class(
        ".".join(module.name.split(".")[1:3]) if ".features." in module.name else "web",
        node,
        {*types_in([*fields, *constructors])},
        {*types_in(method.args for method in methods)},
        {name_of(each) for each in ast.walk(node)},
    )


def classes_of(modules: Iterable[Module]) -> Mapping[str, Sequence[Class]]:
    """Return the classes of the web package and of features, by their names."""
    found: dict[str, list[Class]] = {}
    for module in modules:
        if module.name.startswith((f"{OURS}.web.", f"{OURS}.feature.", f"{OURS}.features.")):
            for node in ast.walk(module.tree):
                if isinstance(node, ast.ClassDef):
                    found.setdefault(node.name, []).append(class_of(module, node))
    return found


def handlers_with_all_entries(modules: Iterable[Module]) -> Iterator[str]:
    """Yield each handler that has all entries, and the class through which it has them."""
    classes = classes_of(modules)
    for handler in [each for several in classes.values() for each in several if "Request" in each.parameters]:
        met, left = list[Class](), [handler]
        while left:
            current = left.pop()
            if current in met or current.is_privileged or current.is_scoped:
                continue
            met.append(current)
            if current.has_all:
                yield f"{handler.package}: {handler.node.name} has {current.node.name}"
            held = (current.fields - OF_SCOPES if "scope_of" in current.names else current.fields) - {RECORD}
            left += [
                each for name in held for each in classes.get(name, ()) if each.package in (current.package, "web")
            ]


def is_broken(text: str) -> bool:
    return any(handlers_with_all_entries([Module(f"{OURS}.features.new.handlers", text)]))


def test_handlers_of_readers_have_entries_within_a_scope_only() -> None:
    assert [*handlers_with_all_entries(MODULES)] == []


GET = "    async def get(self, request: Request) -> bytes: ..."


def test_other_ways_to_entries_are_found() -> None:
    assert is_broken(f"class Handler:\n    _store: Store\n{GET}")
    assert is_broken(f"class Handler:\n    _storage: Any\n{GET}\n    def read(self): return self._storage.store")
    assert is_broken(f"class Handler:\n    _server: Server\n{GET}\n    def read(self): return self._server.directory")
    assert is_broken(f"class Rows:\n    _directory: Directory\nclass Handler:\n    _rows: Rows | None\n{GET}")
    assert is_broken(f"class Dumps:\n    _store: Store\nclass Handler:\n    _dumps: Dumps\n{GET}")
    scoped = "class Rows:\n    _store: Store\n    def read(self, scope): return self._store.within(scope).count()"
    holder = f"class Handler:\n    _rows: Rows\n{GET}"
    assert not is_broken(f"{scoped}\n{holder}")
    assert is_broken(f"{scoped} + self._store.count()\n{holder}")
    assert not is_broken(f"class Handler:\n    _catalogue: Catalogue\n{GET}")
