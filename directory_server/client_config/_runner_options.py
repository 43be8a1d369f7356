"""Options that an entry may pass to the program that runs its package: a table for each program.

An option that is not in the table, or has a value of another form, makes the package unavailable.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any

from attrs import define, field, frozen

from ._environment import NAME, check_fixed, is_sensitive
from ._notices import Notice, Unusable, warning
from ._server_config import INPUT, MAX_TEXT, Inputs, Template, as_text, flat

_PATH = r"(?:/(?!\.\.?(?:[/:,]|$))[A-Za-z0-9._-]+)+/?"
"""An absolute path in a container, of plain characters."""

_NUMBER = r"[0-9]{1,5}"


@frozen
class Form:
    """The form that an option's value may take: `pattern`, where an input is one character `INPUT`.

    With `ignore_defaults`, the user must enter the inputs: defaults and choices of the publisher are ignored.
    `warning` is the code of a warning for values with an input, or with `always` for all values. `reason` is the code
    for other forms.
    """

    pattern: re.Pattern[str]
    ignore_defaults: bool = False
    warning: str = ""
    always: bool = False
    reason: str = "option_value"


def _form(pattern: str, **more: Any) -> Form:
    return Form(re.compile(pattern), **more)


_VARIABLE = _form(rf"(?P<name>{NAME.pattern})(?:=(?P<value>.*))?")
_VOLUME = _form(rf"{INPUT}:{_PATH}(?::(?:ro|rw|z|Z))?", ignore_defaults=True, warning="host_path", reason="host_path")
_MOUNT = _form(
    rf"type=bind,(?:src|source)={INPUT},(?:dst|destination|target)={_PATH}(?:,(?:readonly|ro)(?:=true)?)?",
    ignore_defaults=True,
    warning="host_path",
    reason="host_path",
)
_PUBLISH = _form(
    rf"(?:127\.0\.0\.1:)?(?:{_NUMBER}|{INPUT}):(?:{_NUMBER}|{INPUT})(?:/(?:tcp|udp))?", warning="port", always=True
)
_NETWORK = _form(rf"none|bridge|{INPUT}", ignore_defaults=True, warning="network", reason="network")
_USER = _form(rf"[1-9][0-9]{{0,9}}(?::[1-9][0-9]{{0,9}})?|{INPUT}(?::{INPUT})?", ignore_defaults=True, warning="user")
_MEMORY = _form(r"[1-9][0-9]{0,9}[bkmgBKMG]?")
_PYTHON = _form(r"3(?:\.[0-9]{1,2}){0,2}")

PACKAGE = object()
"""Marks an option whose value names the package that is run anyway."""

Table = Mapping[str, Form | object | None]
"""Options by name; None for options without a value."""

NPX: Table = {"-q": None, "--quiet": None, "-p": PACKAGE, "--package": PACKAGE}

UVX: Table = {"-q": None, "--quiet": None, "--from": PACKAGE, "-p": _PYTHON, "--python": _PYTHON}

DNX: Table = {}

DOCKER: Table = {
    "--init": None,
    "--read-only": None,
    "-e": _VARIABLE,
    "--env": _VARIABLE,
    "-v": _VOLUME,
    "--volume": _VOLUME,
    "--mount": _MOUNT,
    "--tmpfs": _form(_PATH),
    "-p": _PUBLISH,
    "--publish": _PUBLISH,
    "--network": _NETWORK,
    "--net": _NETWORK,
    "--add-host": _form(r"host\.docker\.internal:host-gateway", warning="host_gateway", always=True),
    "-u": _USER,
    "--user": _USER,
    "-w": _form(_PATH),
    "--workdir": _form(_PATH),
    "--name": _form(r"[A-Za-z0-9][A-Za-z0-9_.-]{1,62}"),
    "--pull": _form("always|missing|never"),
    "--platform": _form(r"linux/(?:amd64|arm64|386|arm/v[67])"),
    "-m": _MEMORY,
    "--memory": _MEMORY,
    "--shm-size": _MEMORY,
    "--cpus": _form(r"[0-9]{1,3}(?:\.[0-9]{1,3})?"),
    "--pids-limit": _form("[1-9][0-9]{0,5}"),
    "--cap-drop": _form("ALL|[A-Z_]{3,40}"),
    "--security-opt": _form("no-new-privileges(?:[:=]true)?"),
}


@define
class Options:
    """Reads the runtime arguments of one package.

    `own` are words that the command already has. `is_package` returns whether a word names the package. `declared` are
    the names of the entry's environment variables.
    """

    _inputs: Inputs
    _table: Table
    _own: Collection[str]
    _is_package: Callable[[str], bool]
    _declared: Collection[str]
    warnings: list[Notice] = field(factory=list, init=False)
    rest: list[Mapping[str, Any]] = field(factory=list, init=False)
    """Arguments after the package's name, which are arguments of the package."""

    def read(self, specs: Iterable[Mapping[str, Any]]) -> list[Template]:
        """Return the options as arguments. Raises Unusable for an option that is not allowed."""
        options: list[Template] = []
        rest = deque(specs)
        while rest:
            spec = rest.popleft()
            name = as_text(spec.get("name")) if _is_named(spec) else ""
            word = name or as_text(spec.get("value"))
            if len(word) > MAX_TEXT:
                raise Unusable("size", f"{MAX_TEXT:,}")
            if not word.startswith("-"):
                if self._is_repeated(spec, word):
                    self.rest = list(rest)
                    break
                continue
            options += self._option(spec, word, bool(name), rest)
        return options

    def _is_repeated(self, spec: Mapping[str, Any], word: str) -> bool:
        """Return whether a word in front of the package names the package. Raises Unusable for all other words."""
        if word in self._own or (not word and not _has_value(spec)):
            return False
        if word and self._is_package(word):
            return True
        raise Unusable("other_package", word or as_text(spec.get("valueHint")) or "?")

    def _option(
        self, spec: Mapping[str, Any], word: str, named: bool, rest: deque[Mapping[str, Any]]
    ) -> Iterator[Template]:
        option, equals, attached = word.partition("=")
        if option in self._own:
            return
        if option not in self._table:
            # Optional arguments without a value are omitted.
            if equals or not named or spec.get("isRequired") is True or _has_value(spec):
                raise Unusable("option", option)
        elif (form := self._table[option]) is None:
            if equals or as_text(spec.get("value")) not in ("", "true", option):
                raise Unusable("option_value", option)
            if not named or spec.get("isRequired") is True or as_text(spec.get("value")) == "true":
                yield (option,)
        elif equals:
            yield from self._valued(option, form, {"value": attached})
        elif named and (_has_value(spec) or spec.get("valueHint")):
            yield from self._valued(option, form, spec)
        elif rest and not _is_named(rest[0]) and not as_text(rest[0].get("value")).startswith("-"):
            yield from self._valued(option, form, rest.popleft())
        elif not named or spec.get("isRequired") is True:
            raise Unusable("option_value", option)

    def _valued(self, option: str, form: object, spec: Mapping[str, Any]) -> Iterator[Template]:
        if form is PACKAGE:
            value = as_text(spec.get("value"))
            if not value or len(value) > MAX_TEXT or not self._is_package(value):
                raise Unusable("other_package", value or option)
            return
        assert isinstance(form, Form)
        name = as_text(spec.get("value"))[:MAX_TEXT].partition("=")[0] if form is _VARIABLE else ""
        ignore_defaults = form.ignore_defaults or bool(name and is_sensitive(name))
        input_name = as_text(spec.get("valueHint")) or option.strip("-")
        text = self._inputs.text(spec, input_name, ignore_defaults=ignore_defaults)
        if text is None:
            return
        text_form = flat(text)
        match = form.pattern.fullmatch(text_form)
        if not match:
            raise Unusable(form.reason, option if form.reason == "option_value" else text_form.replace(INPUT, "…"))
        if form is _VARIABLE:
            self._check_variable(match)
            if match["value"] is None:
                # The command passes all declared variables.
                return
        if form.warning and (form.always or INPUT in text_form):
            self.warnings.append(warning(form.warning, text_form.replace(INPUT, "…")))
        yield (option,)
        yield text

    def _check_variable(self, match: re.Match[str]) -> None:
        name, value = match["name"], match["value"]
        # Without a value, Docker passes the value of the user's own environment.
        if value is None:
            if name not in self._declared:
                raise Unusable("undeclared", name)
        elif value == INPUT:
            if is_sensitive(name):
                self.warnings.append(warning("variable", name))
        else:
            check_fixed(name, value)


def _is_named(spec: Mapping[str, Any]) -> bool:
    return as_text(spec.get("type")) == "named" or bool(spec.get("name") and spec.get("type") != "positional")


def _has_value(spec: Mapping[str, Any]) -> bool:
    return bool(as_text(spec.get("value")) or as_text(spec.get("default")))
