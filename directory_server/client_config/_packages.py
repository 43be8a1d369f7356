"""Servers that run on the user's machine, from a package.

This module determines the command, the package and its version. The entry provides variables, arguments of the package,
and the options of the command that a table allows (`_runner_options`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

from attrs import define, field, frozen

from ..texts import hosts
from . import _identifiers as identifiers
from ._data import words
from ._environment import NAME, check_fixed, is_sensitive
from ._fixed import fixed_warnings
from ._notices import Notice, Unusable, warning
from ._remotes import REMOTE_TYPES, remote_config
from ._runner_options import DNX, DOCKER, NPX, UVX, Options, Table
from ._server_config import INPUT, Input, Inputs, ServerConfig, Template, as_text, flat, mapping, mappings

_VALUED = {"value", "default", "valueHint", "placeholder", "choices", "format", "isSecret", "variables"}

_LOCAL_URL = re.compile(
    r"https?://(?:localhost|127(?:\.[0-9]+){3}|0\.0\.0\.0|\[::1?\]|\{[^{}/]+\})(?::|/|$)", re.IGNORECASE
)
"""URLs of servers that the user must start."""

SHELL = re.compile(r"[&|<>^\"]")
"""Special characters of cmd.exe. On Windows some commands are batch files, whose arguments VS Code joins without
quoting (`formatSubprocessArguments` in extHostMcpNode.ts)."""

_REGISTRIES = words("registries")

MAX_VERSION = 100
"""Characters of a version."""


@frozen
class Runner:
    """The program that runs the packages of a registry.

    `bases` are the hosts of the registry that the runner uses by default. `is_version` tests for an exact version.
    `open_version` is used if there is no version. `own` are words of the command that entries often repeat.
    """

    command: str
    name: Callable[[str], str]
    is_version: Callable[[str], bool]
    bases: Collection[str]
    table: Table
    before: Sequence[str] = ()
    after: Sequence[str] = ()
    own: Collection[str] = ()
    open_version: str = ""
    batch: bool = False


RUNNERS = {
    # Without a version, npx runs a command of that name that the project or the machine has, before any package.
    "npm": Runner(
        "npx",
        identifiers.npm_name,
        identifiers.semver,
        ("registry.npmjs.org",),
        NPX,
        before=("-y",),
        own=("npx", "-y", "--yes"),
        open_version="@latest",
        batch=True,
    ),
    "pypi": Runner("uvx", identifiers.pypi_name, identifiers.pep440, ("pypi.org",), UVX, own=("uvx",)),
    "nuget": Runner(
        "dnx",
        identifiers.nuget_name,
        identifiers.nuget_version,
        ("api.nuget.org", "www.nuget.org"),
        DNX,
        after=("--yes", "--"),
        own=("dnx", "-y", "--yes", "--"),
        batch=True,
    ),
}
"""By registry type. Images have a runner of their own, and an .mcpb bundle is opened, not configured."""

_DOCKER = Runner(
    "docker",
    lambda name: name,
    identifiers.image_tag,
    ("docker.io", "ghcr.io", "quay.io", "mcr.microsoft.com"),
    DOCKER,
    before=("run", "-i", "--rm"),
    own=("docker", "run", "-i", "--interactive", "--rm"),
)


@frozen
class Package:
    """A package in the form for its runner. `is_package` returns whether a word of an argument names the package."""

    runner: Runner
    exact: str
    is_package: Callable[[str], bool]
    warnings: Sequence[Notice]


def package_config(package: Mapping[str, Any]) -> ServerConfig:
    """Return the server that a package runs. Raises Unusable."""
    transport = mapping(package.get("transport"))
    kind, name = as_text(package.get("registryType")), as_text(package.get("identifier"))
    if as_text(transport.get("type")) in REMOTE_TYPES:
        return _config_of_url(transport)
    if kind == "mcpb":
        raise _bundle(package, name)
    base = _base(as_text(package.get("registryBaseUrl")))
    version = as_text(package.get("version"))
    if len(version) > MAX_VERSION:
        raise Unusable("version", version)
    if kind == "oci":
        program = _image(name, version, base)
    elif kind in RUNNERS:
        program = _named(RUNNERS[kind], name, version, base)
    else:
        raise Unusable("kind", kind) if kind else Unusable("untyped", name)
    return _PackageReader(kind, program).server(package)


def _named(runner: Runner, name: str, version: str, base: str) -> Package:
    name = runner.name(name)
    if base and base not in runner.bases:
        # The registry determines which code runs, so only the user may change it.
        raise Unusable("registry", base)
    if version and not runner.is_version(version):
        raise Unusable("version", version)

    def is_package(word: str) -> bool:
        stated, _, other = word.partition("==") if "==" in word else (word[0] + word[1:].partition("@")[0], "", "")
        other = other or word[len(stated) + 1 :]
        return stated == name and (not other or other == "latest" or runner.is_version(other))

    exact = f"{name}@{version}" if version else f"{name}{runner.open_version}"
    return Package(runner, exact, is_package, () if version else (warning("version_open"),))


def _image(reference: str, version: str, base: str) -> Package:
    parts = identifiers.image(reference)
    domain, tag, digest = parts["domain"], parts["tag"], parts["digest"]
    if base and (base not in _DOCKER.bases or domain not in (None, base)):
        raise Unusable("registry", base)
    if version and not identifiers.image_tag(version):
        raise Unusable("version", version)
    exact = reference if domain or base in ("", "docker.io") else f"{base}/{reference}"
    if version and not tag and not digest:
        exact = f"{exact}:{version}"
    host = (domain or base or "docker.io").lower()
    warnings = [] if digest else [warning("tag")]
    if not any(fnmatchcase(host, registry) for registry in _REGISTRIES):
        warnings.append(warning("image_registry", host))
    names = {reference, exact, *(word.partition("@")[0] for word in (reference, exact))}
    names |= {name.removeprefix("docker.io/") for name in names}
    names |= {re.sub(r":[^:/]*$", "", name) for name in names}
    return Package(_DOCKER, exact, names.__contains__, warnings)


def _base(url: str) -> str:
    """Return the host of a registry's base URL, or the text if it is not such a URL; empty for the default."""
    match = re.fullmatch(r"https://([a-z0-9.-]+)(?:/[A-Za-z0-9./_-]*)?", url)
    return match[1] if match else url


def _bundle(package: Mapping[str, Any], url: str) -> Unusable:
    digest = as_text(package.get("fileSha256"))
    try:
        reachable = url.startswith("https://") and hosts.of(url).scope != "local"
    except ValueError:
        reachable = False
    if not reachable or not url.isprintable() or " " in url:
        return Unusable("url", url)
    if not re.fullmatch(r"[0-9a-f]{64}", digest, re.IGNORECASE):
        return Unusable("bundle_unverified")
    return Unusable("bundle", digest.lower())


def _config_of_url(transport: Mapping[str, Any]) -> ServerConfig:
    """Return the server at a package's URL. Raises Unusable if the user must start it."""
    url = as_text(transport.get("url"))
    if _LOCAL_URL.match(url):
        raise Unusable("local_server", url)
    return remote_config(transport)


@define
class _PackageReader:
    """Reads variables and arguments of one package."""

    _kind: str
    _package: Package
    _inputs: Inputs = field(factory=Inputs, init=False)
    _warnings: list[Notice] = field(factory=list, init=False)

    def server(self, package: Mapping[str, Any]) -> ServerConfig:
        runner, exact = self._package.runner, self._package.exact
        variables = dict(self._variables(package))
        # Docker passes only the listed variables to the container.
        passed = [part for variable in variables for part in ("-e", variable)] if self._kind == "oci" else []
        options = Options(self._inputs, runner.table, runner.own, self._package.is_package, variables)
        runtime_arguments = options.read(mappings(package.get("runtimeArguments")))
        own = list(self._arguments(options.rest)) + list(self._arguments(mappings(package.get("packageArguments"))))
        if runner.batch:
            _check_batch(own)
        arguments: list[Template] = [
            *((part,) for part in (*runner.before, *passed)),
            *runtime_arguments,
            *((part,) for part in (exact, *runner.after)),
            *own,
        ]
        fixed = fixed_warnings(own, (*runtime_arguments, *variables.values()))
        warnings = [*self._package.warnings, *self._warnings, *options.warnings, *fixed]
        return ServerConfig(
            self._kind,
            exact,
            self._inputs.all,
            runner.command,
            arguments,
            env_or_headers=variables,
            warnings=list(dict.fromkeys(warnings)),
        )

    def _variables(self, package: Mapping[str, Any]) -> Iterator[tuple[str, Template]]:
        for spec in mappings(package.get("environmentVariables")):
            name = as_text(spec.get("name"))
            if not name:
                continue
            if not NAME.fullmatch(name):
                raise Unusable("variable_name", name)
            value = self._inputs.text(spec, name, ignore_defaults=is_sensitive(name) and not spec.get("default"))
            if not value:
                continue
            if flat(value) != INPUT:
                check_fixed(name, flat(value))
            elif is_sensitive(name):
                self._warnings.append(warning("variable", name))
            yield name, value

    def _arguments(self, arguments: Iterable[Mapping[str, Any]]) -> Iterator[Template]:
        for spec in arguments:
            name = as_text(spec.get("name"))
            if as_text(spec.get("type")) == "named" or (name and spec.get("type") != "positional"):
                yield from self._argument(spec, name)
            elif value := self._inputs.text(spec, as_text(spec.get("valueHint")) or name or "argument"):
                yield value

    def _argument(self, spec: Mapping[str, Any], name: str) -> Iterator[Template]:
        if spec.get("format") == "boolean" or not spec.keys() & _VALUED:
            # A switch has no value.
            if spec.get("isRequired") is True or as_text(spec.get("value")) == "true":
                yield self._inputs.filled(name, {})
        elif (value := self._inputs.text(spec, as_text(spec.get("valueHint")) or name)) is not None:
            yield self._inputs.filled(name, {})
            yield value


def _check_batch(arguments: Iterable[Template]) -> None:
    for text in arguments:
        for part in text:
            for value in part.choices if isinstance(part, Input) else (part,):
                if SHELL.search(value):
                    raise Unusable("shell", value)
